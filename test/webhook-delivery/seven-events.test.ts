/** The seven events of the contract, each caused by an operation and received by a webhook. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { webhookEvents } from '../../src/events/declarations.ts';
import { startTestDelivery, type TestDelivery } from '../support/delivery.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Team } from '../support/world.ts';

const SEVEN = [
  'room.created',
  'room.joined',
  'room.left',
  'recording.started',
  'recording.completed',
  'member.joined',
  'member.left',
] as const;

let app: TestApp;
let delivery: TestDelivery;
let team: Team;
let receiver: Receiver;

beforeAll(async () => {
  app = await startTestApp();
  delivery = await startTestDelivery(app);
  team = await addTeam(app);
  receiver = await startReceiver();
});
afterAll(async () => {
  await delivery.stop();
  await receiver.close();
  await app.close();
});

test('a recorded meeting and a member who joins and leaves cause all seven events, each once', async () => {
  const { client } = team.owner;
  const { id } = team;
  await client.webhooks.create.mutate({ id, name: 'All', url: receiver.url, events: [...SEVEN] });

  const { room } = await client.rooms.create.mutate({ workspace_id: id, name: 'all-hands' });
  const guest = createClient({ url: app.url });
  const roomName = room.name;
  const { participant } = await guest.participants.join.mutate({ roomName, name: 'Grace', email: 'grace@example.com' });
  const { token } = participant;
  const { recording, upload_token } = await guest.recordings.startInRoom.mutate({
    roomName,
    token,
    title: 'All hands',
  });
  await guest.recordings.stopInRoom.mutate({ roomName, recordingId: recording.id, token });
  const body = new FormData();
  const video = await readFile(new URL('../../examples/sample.mp4', import.meta.url));
  body.append('file', new Blob([new Uint8Array(video)], { type: 'video/mp4' }), 'all-hands.mp4');
  const path = `/api/recordings/${recording.id}/file`;
  expect((await app.http.call('POST', path, { token: upload_token, body })).status).toBe(200);
  await guest.participants.leave.mutate({ roomName, token });
  const invite = await client.workspaces.invite.mutate({ id });
  const newcomer = await addPerson(app, 'Nina');
  await newcomer.client.workspaces.join.mutate({ token: invite.token });
  await newcomer.client.members.remove.mutate({ id, userId: newcomer.id });

  const requests = await receiver.waitFor(SEVEN.length);
  const bodies = requests.map((request) => JSON.parse(request.body.toString()));
  expect(bodies.map(({ event }) => event).sort()).toEqual([...SEVEN].sort());
  for (const { event, data } of bodies) {
    // Exactly the fields of the catalogue, and no others.
    expect(webhookEvents[event as (typeof SEVEN)[number]].data.strict().parse(data)).toEqual(data);
  }
  const findData = (event: string) => bodies.find((one) => one.event === event).data;
  expect(findData('room.joined')).toMatchObject({ room_name: 'all-hands', participant_name: 'Grace', user_id: null });
  expect(findData('room.left')).toMatchObject({ participant_id: participant.id, left_at: expect.any(Number) });
  expect(findData('recording.started')).toMatchObject({ recording_id: recording.id, status: 'started', size: 0 });
  expect(findData('recording.completed')).toMatchObject({ status: 'available', duration: 3, size: video.length });
  expect(findData('member.left')).toMatchObject({ user_name: 'Nina', reason: 'left' });
});
