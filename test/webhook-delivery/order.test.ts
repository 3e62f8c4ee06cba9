/** The order in which messages go out, and the numbers that tell the order of events. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Receiver, respond, startReceiver } from '../support/receiver.ts';
import { type ProcessWorld, startProcessWorld } from './fixtures/process-world.ts';
import { waitFor } from './fixtures/world.ts';

const VISITS = 80;

type Arrival = { event: string; participant: number; sequence: number };

let world: ProcessWorld;
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
  world = await startProcessWorld();
});
afterEach(async () => {
  await world?.close();
  await receiver.close();
});

async function addRoom(name: string): Promise<void> {
  const { status } = await world.http.post('/api/dashboard/rooms', world.token, { name });
  expect(status).toBe(201);
}

async function registerWebhook(): Promise<void> {
  const input = { name: 'Chat', url: receiver.url, events: ['room.joined', 'room.left'] };
  const { status } = await world.http.post(`/api/workspaces/${world.workspaceId}/webhooks`, world.token, input);
  expect(status).toBe(200);
}

/** A guest joins and leaves at once. */
async function visit(room: string, name: string): Promise<void> {
  const { status, body } = await world.http.post(`/api/rooms/${room}/join`, undefined, { name });
  expect(status).toBe(200);
  expect((await world.http.post(`/api/rooms/${room}/leave`, undefined, { token: body.participant.token })).status).toBe(
    200,
  );
}

function readArrivals(): Arrival[] {
  return receiver.requests.map(({ headers, body }) => {
    const { event, data } = JSON.parse(body.toString());
    return { event, participant: data.participant_id, sequence: Number(headers['x-webhook-sequence']) };
  });
}

test.each([1, 2])('with %i worker processes, nobody leaves a room before they joined it', async (workers) => {
  await addRoom('lobby');
  await registerWebhook();
  await Promise.all(Array.from({ length: workers }, () => world.startWorker()));
  for (let index = 0; index < VISITS; index += 1) await visit('lobby', `Guest ${index}`);
  await receiver.waitFor(2 * VISITS);
  const arrivals = readArrivals();
  const present = new Set<number>();
  for (const { event, participant } of arrivals) {
    if (event === 'room.joined') present.add(participant);
    else expect(present.delete(participant), 'left before joining').toBe(true);
  }
  // They are about one room, so all of them are in order.
  const sequences = arrivals.map(({ sequence }) => sequence);
  expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
  expect(new Set(sequences).size).toBe(2 * VISITS);
});

test('a room whose message fails or hangs does not delay the messages of other rooms', async () => {
  for (const name of ['failing', 'hanging', 'healthy']) await addRoom(name);
  await registerWebhook();
  const ok = respond(200);
  receiver.respondWith((request, response, index) => {
    const { room_name } = JSON.parse(request.body.toString()).data;
    if (room_name === 'hanging') return;
    (room_name === 'failing' ? respond(500) : ok)(request, response, index);
  });
  await world.startWorker();
  for (const room of ['failing', 'hanging']) for (const name of ['Ada', 'Bob']) await visit(room, name);
  for (let index = 0; index < 10; index += 1) await visit('healthy', `Guest ${index}`);
  const arrivalsAt = (room: string) =>
    receiver.requests.filter(({ body }) => JSON.parse(body.toString()).data.room_name === room);
  await waitFor(async () => {
    // The first message to the room that hangs holds the other three; a failure releases the next message.
    expect(arrivalsAt('healthy').length).toBe(20);
    expect(new Set(arrivalsAt('failing').map(({ headers }) => headers['webhook-id'])).size).toBe(4);
  });
  expect(new Set(arrivalsAt('hanging').map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});
