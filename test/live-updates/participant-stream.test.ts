/** A participant learns from their stream what becomes of their visit. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { openEventStream, type ReceivedStream } from '../support/event-stream.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, type Person } from '../support/world.ts';

let app: TestApp;
let host: Person;
beforeAll(async () => {
  app = await startTestApp();
  host = await addPerson(app, 'Hanna Host');
});
afterAll(() => app.close());

type Visit = { room: string; id: number; token: string; stream: ReceivedStream };

/** A guest who waits in a room of their own, and listens. */
async function visit(): Promise<Visit> {
  const { room } = await host.client.rooms.create.mutate({ waiting_room_enabled: 1 });
  const { body } = await app.http.post(`/api/rooms/${room.name}/join`, undefined, { name: 'Vera Guest' });
  const { id, token } = body.participant;
  const stream = await openEventStream(`${app.url}/api/rooms/${room.name}/presence/stream?token=${token}`, undefined);
  await stream.first('participant.waiting');
  return { room: room.name, id, token, stream };
}

const decide = ({ room, id }: Visit, decision: 'admit' | 'refuse') =>
  app.http.post(`/api/dashboard/rooms/${room}/participants/${id}/${decision}`, host.token);

const eventsOf = ({ stream }: Visit): string[] => stream.events.map(({ event }) => event);

test('a waiting participant is told that they were admitted, and that the room was deleted', async () => {
  const guest = await visit();
  await decide(guest, 'admit');
  const { data } = await guest.stream.first('participant.joined');
  const presence = await app.http.post(`/api/rooms/${guest.room}/presence`, undefined, { token: guest.token });
  const { user_id, is_host, is_member, may_record, external_id, metadata, ...participant } = presence.body.participant;
  expect(data).toMatchObject({ event: 'participant.joined', data: { participant } });
  await host.client.rooms.delete.mutate({ name: guest.room });
  await guest.stream.ended;
  expect(eventsOf(guest)).toEqual(['participant.waiting', 'participant.joined', 'room.deleted']);
});

test('a refused participant is told, and the stream ends', async () => {
  const guest = await visit();
  await decide(guest, 'refuse');
  await guest.stream.ended;
  expect(eventsOf(guest)).toEqual(['participant.waiting', 'participant.refused']);
});

test('a participant is told that a host removed them, or closed the room', async () => {
  const [removed, closed] = [await visit(), await visit()];
  for (const guest of [removed, closed]) {
    await decide(guest, 'admit');
    await guest.stream.first('participant.joined');
  }
  const rooms = `/api/dashboard/rooms`;
  await app.http.post(`${rooms}/${removed.room}/participants/${removed.id}/remove`, host.token);
  await app.http.post(`${rooms}/${closed.room}/close`, host.token);
  await Promise.all([removed.stream.ended, closed.stream.ended]);
  expect(eventsOf(removed).at(-1)).toBe('participant.removed');
  expect(eventsOf(closed).at(-1)).toBe('room.closed');
});

test('the typed client gets the same, and the token can be in the header', async () => {
  const guest = await visit();
  const { room, token } = guest;
  const received: string[] = [];
  createClient({ url: app.url }).participants.live.subscribe(
    { roomName: room, token },
    { onData: ({ event }) => received.push(event) },
  );
  await expect.poll(() => received).toEqual(['participant.waiting']);
  const byHeader = await openEventStream(`${app.url}/api/rooms/${room}/presence/stream`, token);
  await byHeader.first('participant.waiting');
  await decide(guest, 'refuse');
  await expect.poll(() => received).toEqual(['participant.waiting', 'participant.refused']);
  await byHeader.ended;
  expect(byHeader.events).toHaveLength(2);
});

test('a token of another room is not found', async () => {
  const [one, other] = [await visit(), await visit()];
  const path = `/api/rooms/${one.room}/presence/stream?token=${other.token}`;
  expect(await app.http.get(path)).toMatchObject({ status: 404, body: { message: 'Participant not found' } });
  for (const { stream } of [one, other]) stream.close();
});
