/** Signals between the pages of a meeting, through two processes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { MAX_SIGNAL_BYTES } from '../../src/features/peers/schemas.ts';
import { MAX_BYTES_PER_PAGE, MAX_BYTES_PER_SENDER, pruneMeetings } from '../../src/features/peers/signals.ts';
import { addRoom, addWaitingRoom } from '../participants/rooms.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { enter, expectPeers, join, newConnectionId, openPage, type Page, signal } from './pages.ts';

let app: TestApp;
let other: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  other = await startTestApp({ sharedDatabase: app });
  team = await addTeam(app);
});
afterAll(async () => {
  await other.close();
  await app.close();
});

/** The owner on a page of one process, and a guest on a page of the other. */
async function meet(name?: string): Promise<{ room: string; host: Page; guest: Page }> {
  const room = name ?? (await addRoom(app, team, team.owner)).name;
  const host = await enter(app, room, 'Olive Owner', team.owner.token);
  const guest = await enter(other, room, 'Vera');
  await expectPeers(host, [guest.connectionId]);
  await expectPeers(guest, [host.connectionId]);
  return { room, host, guest };
}

function close(...pages: Page[]): void {
  for (const { stream } of pages) stream.close();
}

/** A page that no stream has opened. */
const stranger = (page: Page) => ({ id: page.id, connectionId: newConnectionId() });

test('a signal arrives unchanged and in order at the page of another process, and at no other page', async () => {
  const { room, host, guest } = await meet();
  const third = await enter(app, room, 'Third');
  const texts = ['{"sdp":"v=0\\r\\n"}', 'not JSON {', '', '\u{1F600} \t\n', 'x'.repeat(MAX_SIGNAL_BYTES)];
  for (const text of texts) expect(await signal(host, guest, text)).toMatchObject({ status: 200, body: { ok: true } });
  await expect.poll(() => guest.signals().map(({ data }) => data)).toEqual(texts);
  expect(guest.signals()[0]).toEqual({
    id: expect.any(Number),
    from: host.id,
    from_connection_id: host.connectionId,
    data: texts[0],
  });
  const client = createClient({ url: other.url });
  const input = { roomName: room, token: guest.token, connection_id: guest.connectionId };
  await client.participants.signal.mutate({
    ...input,
    to: host.id,
    to_connection_id: host.connectionId,
    data: 'typed',
  });
  await expect.poll(() => host.signals().map(({ data }) => data)).toEqual(['typed']);
  expect(third.signals()).toEqual([]);
  close(host, guest, third);
});

test('a reopened stream gets the signals of the last minute again, with the same ids, and no older ones', async () => {
  const { host, guest } = await meet();
  await signal(host, guest, 'first');
  await expect.poll(() => guest.signals()).toHaveLength(1);
  guest.stream.close();
  expect((await signal(host, guest, 'while it was away')).status).toBe(200);
  const back = await openPage(guest, guest.connectionId, app);
  await expect.poll(() => back.signals().map(({ data }) => data)).toEqual(['first', 'while it was away']);
  expect(back.signals()[0]).toEqual(guest.signals()[0]);
  back.stream.close();
  await app.services.db.$executeRaw`update meeting_signals set created_at = created_at - interval '61 seconds'`;
  const later = await openPage(guest, guest.connectionId);
  await signal(host, later, 'new');
  await expect.poll(() => later.signals().map(({ data }) => data)).toEqual(['new']);
  await pruneMeetings(app.services);
  expect(await app.services.db.meetingSignal.count({ where: { participantId: guest.id } })).toBe(1);
  close(host, later);
});

test('signals go only between pages that exchange media in the same room at that moment', async () => {
  const { host, guest } = await meet();
  const { host: otherHost, guest: otherGuest } = await meet();
  const refused = async (from: Page, to: { id: number; connectionId: string }, status: number, message: string) =>
    expect(await signal(from, to, 'x')).toMatchObject({ status, body: { message } });
  await refused(host, otherGuest, 404, 'Participant not found');
  await refused(host, { id: guest.id, connectionId: otherGuest.connectionId }, 404, 'Connection not found');
  await refused(host, stranger(guest), 404, 'Connection not found');
  await refused(host, host, 404, 'Participant not found');
  await refused({ ...host, connectionId: newConnectionId() }, guest, 404, 'Connection not found');
  await refused({ ...host, connectionId: guest.connectionId }, guest, 404, 'Connection not found');
  await refused({ ...host, room: otherHost.room }, otherGuest, 404, 'Participant not found');
  const second = await openPage(guest);
  await guest.stream.ended;
  const replaced = await signal(guest, host, 'x');
  expect(replaced).toMatchObject({ status: 409, body: { code: 'CONNECTION_REPLACED' } });
  await refused(host, guest, 404, 'Connection not found');
  expect((await signal(host, second, 'x')).status).toBe(200);
  await app.http.post(`/api/rooms/${host.room}/leave`, undefined, { token: guest.token });
  await refused(second, host, 403, 'Only participants who have joined can send signals');
  await refused(host, second, 404, 'Participant not found');
  await app.http.post(`/api/dashboard/rooms/${host.room}/close`, team.owner.token);
  expect(await app.services.db.meetingSignal.count({ where: { participantId: { in: [host.id, guest.id] } } })).toBe(0);
  await host.stream.ended;
  close(otherHost, otherGuest);
});

test('those who wait neither send nor get signals', async () => {
  const { name } = await addWaitingRoom(app, team, team.owner);
  const host = await enter(app, name, 'Olive Owner', team.owner.token);
  const waiting = await openPage(await join(app, name, 'Vera'));
  expect(await signal(waiting, host, 'x')).toMatchObject({ status: 403 });
  expect(await signal(host, waiting, 'x')).toMatchObject({ status: 404 });
  const state = { token: waiting.token, connection_id: waiting.connectionId, camera: 1 };
  expect((await app.http.post(`/api/rooms/${name}/presence`, undefined, state)).status).toBe(200);
  expect(await app.services.db.meetingPage.count({ where: { participantId: waiting.id } })).toBe(0);
  close(host, waiting);
});

test('what waits for a page is bounded for each sender, and a flood keeps nobody else from sending', async () => {
  const { room, host, guest } = await meet();
  const flooder = await enter(app, room, 'Flooder');
  const big = 'x'.repeat(MAX_SIGNAL_BYTES);
  const fits = Math.floor(MAX_BYTES_PER_SENDER / MAX_SIGNAL_BYTES);
  const answers = await Promise.all(Array.from({ length: fits + 10 }, () => signal(flooder, guest, big)));
  const accepted = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 429);
  expect([accepted.length, refused.length]).toEqual([fits, 10]);
  expect(refused[0]).toMatchObject({
    body: { message: 'Too many signals for this participant: try again later' },
  });
  expect(refused[0]?.headers.get('retry-after')).toBe('5');
  expect((await signal(host, guest, 'still')).status).toBe(200);
  await expect.poll(() => guest.signals().at(-1)?.data).toBe('still');
  expect(guest.signals()).toHaveLength(fits + 1);
  // Twice what the queue of a stream holds arrives after a reconnect too.
  guest.stream.close();
  const back = await openPage(guest, guest.connectionId, app);
  await expect.poll(() => back.signals().at(-1)?.data).toBe('still');
  expect(back.signals().map(({ id }) => id)).toEqual(guest.signals().map(({ id }) => id));
  close(host, back, flooder);
});

test('what somebody sent who has left does not count toward what all others may send', async () => {
  const { room, host, guest } = await meet();
  const at = app.clock.now();
  const gone = { workspaceId: team.id, name: 'Gone', createdAt: at, joinedAt: at, lastSeenAt: at };
  const { id: roomId } = await app.services.db.room.findFirstOrThrow({ where: { name: room } });
  const page = { workspaceId: team.id, participantId: guest.id, connectionId: guest.connectionId };
  const senders = MAX_BYTES_PER_PAGE / MAX_BYTES_PER_SENDER;
  for (let index = 0; index < senders; index += 1) {
    const { id } = await app.services.db.participant.create({ data: { ...gone, roomId, status: 'joined' } });
    const sent = { fromParticipantId: id, fromConnectionId: 'gone', data: 'x'.repeat(MAX_BYTES_PER_SENDER) };
    await app.services.db.meetingSignal.create({ data: { ...page, ...sent, kind: 'signal', createdAt: at } });
  }
  expect((await signal(host, guest, 'while they are there')).status).toBe(429);
  const left = { status: 'left', leftAt: at };
  await app.services.db.participant.updateMany({ where: { roomId, name: 'Gone' }, data: left });
  expect((await signal(host, guest, 'after that')).status).toBe(200);
  await expect.poll(() => guest.signals().at(-1)?.data).toBe('after that');
  close(host, guest);
});

test('the calls of a participant are limited for all processes together, without an effect on others', async () => {
  const limited = await startTestApp({ sharedDatabase: app, limits: { perUser: 40 } });
  try {
    const { room, host, guest } = await meet();
    const flooder = await enter(app, room, 'Flooder');
    const statuses: number[] = [];
    for (let sent = 0; sent < 45; sent += 1) statuses.push((await signal(flooder, guest, 'x', limited)).status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(5);
    expect((await signal(host, guest, 'y', limited)).status).toBe(200);
    await expect.poll(() => guest.signals().at(-1)?.data).toBe('y');
    close(host, guest, flooder);
  } finally {
    await limited.close();
  }
});

test('a host asks everybody else to mute, once, also over a reconnect', async () => {
  const { room, host, guest } = await meet();
  const away = await enter(app, room, 'Away');
  away.stream.close();
  const path = `/api/dashboard/rooms/${room}/mute-all`;
  expect((await app.http.post(path, team.member.token)).status).toBe(404);
  expect((await app.http.post(path, team.owner.token)).body).toEqual({ ok: true });
  const asked = { event: 'mute.requested', data: { name: 'Olive Owner' } };
  expect((await guest.stream.first('mute.requested')).data).toMatchObject(asked);
  const back = await openPage(away, away.connectionId);
  expect((await back.stream.first('mute.requested')).data).toMatchObject(asked);
  await expect.poll(() => app.services.db.meetingSignal.count({ where: { kind: 'mute' } })).toBe(0);
  const again = await openPage(guest, guest.connectionId);
  await signal(host, again, 'x');
  await expect.poll(() => again.signals()).toHaveLength(1);
  for (const { stream } of [again, host]) expect(stream.events.map(({ event }) => event)).not.toContain(asked.event);

  // So does a host with a pass, whose own page is not asked.
  const { token: link } = await team.owner.client.participants.create.mutate({
    id: team.id,
    roomName: room,
    name: 'Pat Patient',
    is_host: 1,
  });
  const { participant } = (await app.http.post(`/api/rooms/${room}/exchange`, undefined, { token: link })).body;
  const pat = await openPage({ ...guest, id: participant.id, token: participant.token }, 'page-of-pat-patient');
  expect((await app.http.post(path, participant.token)).body).toEqual({ ok: true });
  expect((await again.stream.first('mute.requested')).data).toMatchObject({ data: { name: 'Pat Patient' } });
  expect(pat.stream.events.map(({ event }) => event)).not.toContain('mute.requested');
  close(host, again, back, pat);
});
