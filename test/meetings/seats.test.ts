/** Who gets one of the places in a meeting, what ends it, and how soon the others know. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOUR_MS, SECOND_MS } from '../../src/core/time.ts';
import { addRoom, addWaitingRoom, decide } from '../participants/rooms.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { enter, expectPeers, join, openPage, type Page, signal } from './pages.ts';

let app: TestApp;
let other: TestApp;
let team: Team;
beforeAll(async () => {
  // Streams are never looked at by themselves, so what they learn they learn from notifications.
  const streamLimits = { recheckMs: HOUR_MS };
  app = await startTestApp({ streamLimits });
  other = await startTestApp({ sharedDatabase: app, streamLimits });
  team = await addTeam(app);
});
afterAll(async () => {
  await other.close();
  await app.close();
});

const mediaOf = (page: Page) =>
  page.stream.events.filter(({ event }) => event === 'participant.joined').at(-1)?.data.data.media;

function close(pages: readonly Page[]): void {
  for (const { stream } of pages) stream.close();
}

test('of twenty pages that open at once in two processes, exactly eight get a place', async () => {
  const { name } = await addRoom(app, team, team.owner);
  const visitors = await Promise.all(Array.from({ length: 20 }, (_, index) => join(app, name, `Guest ${index}`)));
  const pages = await Promise.all(
    visitors.map((visitor, index) => openPage(visitor, undefined, index % 2 === 0 ? app : other)),
  );
  const kinds = () => pages.map((page) => mediaOf(page)?.kind);
  await expect.poll(() => kinds().filter((kind) => kind !== undefined)).toHaveLength(20);
  expect(kinds().filter((kind) => kind === 'mesh')).toHaveLength(8);
  expect(kinds().filter((kind) => kind === 'full')).toHaveLength(12);
  const [full, seated] = [
    pages.find((page) => mediaOf(page).kind === 'full'),
    pages.find((page) => mediaOf(page).kind === 'mesh'),
  ];
  if (!full || !seated) throw new Error('Nobody is full or seated');
  expect(mediaOf(full)).toEqual({ kind: 'full', max_participants: 8 });
  expect((await app.http.get(`/api/rooms/${name}`)).body.room.full).toBe(1);
  const { body } = await app.http.post(`/api/rooms/${name}/join`, undefined, { name: 'Late' });
  expect(body).toMatchObject({ participant: { status: 'joined' }, media: { kind: 'full' } });
  expect(await signal(full, seated, 'x')).toMatchObject({ status: 409, body: { code: 'MEETING_FULL' } });
  expect(await signal(seated, full, 'x')).toMatchObject({ status: 404 });
  await expect
    .poll(() => seated.peers().peers.filter((peer: { connection_id: unknown }) => peer.connection_id))
    .toHaveLength(7);
  // A place that becomes free goes to exactly one of those who wait for it.
  await app.http.post(`/api/rooms/${name}/leave`, undefined, { token: seated.token });
  await expect.poll(() => pages.filter((page) => page !== seated && mediaOf(page).kind === 'mesh')).toHaveLength(8);
  close(pages);
});

test('a reload keeps the place in a full meeting, and admitting somebody to it is refused', async () => {
  const small = await startTestApp({
    sharedDatabase: app,
    settings: { meetings: { ...app.services.settings.meetings, maxParticipants: 2 } },
  });
  try {
    const { name } = await addWaitingRoom(app, team, team.owner);
    const host = await enter(small, name, 'Olive Owner', team.owner.token);
    const admin = await enter(small, name, 'Adam Admin', team.admin.token);
    const waiting = await openPage(await join(small, name, 'Vera'));
    const refused = await decide(small, 'admit', name, waiting.id, team.owner.token);
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'MEETING_FULL', message: 'All places in the meeting are taken: somebody must leave first' },
    });
    const reloaded = await openPage(admin);
    expect(mediaOf(reloaded)).toMatchObject({ kind: 'mesh', max_participants: 2 });
    await expectPeers(host, [reloaded.connectionId]);
    await small.http.post(`/api/rooms/${name}/leave`, undefined, { token: admin.token });
    expect((await decide(small, 'admit', name, waiting.id, team.owner.token)).status).toBe(200);
    await expectPeers(waiting, [host.connectionId]);
    close([host, waiting]);
  } finally {
    await small.close();
  }
});

test('guests cannot keep all hosts out: one more place is for a host, and races give it to exactly one', async () => {
  const settings = { meetings: { ...app.services.settings.meetings, maxParticipants: 2 } };
  const processes = await Promise.all([1, 2].map(() => startTestApp({ sharedDatabase: app, settings })));
  const [small, beside] = processes;
  if (!small || !beside) throw new Error('There are two processes');
  try {
    const { name } = await addRoom(app, team, team.owner);
    const fullFor = async (token?: string) => (await small.http.get(`/api/rooms/${name}`, token)).body.room.full;
    const guests = [await enter(small, name, 'Vera'), await enter(small, name, 'Grace')];
    expect([await fullFor(), await fullFor(team.member.token), await fullFor(team.owner.token)]).toEqual([1, 1, 0]);
    const visitors = await Promise.all(
      [team.owner, team.admin].map((person) => join(small, name, person.name, person.token)),
    );
    const hosts = await Promise.all(
      visitors.map((visitor, index) => openPage(visitor, undefined, index === 0 ? small : beside)),
    );
    const kinds = () => hosts.map((page) => mediaOf(page)?.kind).toSorted();
    await expect.poll(kinds).toEqual(['full', 'mesh']);
    expect([await fullFor(), await fullFor(team.owner.token)]).toEqual([1, 1]);
    // A place for anybody goes to the host who waits for it.
    const [gone] = guests;
    await small.http.post(`/api/rooms/${name}/leave`, undefined, { token: gone?.token });
    await expect.poll(kinds).toEqual(['mesh', 'mesh']);
    close([...guests, ...hosts]);
  } finally {
    for (const each of processes) await each.close();
  }
});

test.each([
  ['removed', 'participant.removed', (page: Page) => `participants/${page.id}/remove`],
  ['closed', 'room.closed', () => 'close'],
])('a participant who is %s by another process is gone at once, for both sides', async (_how, event, path) => {
  const { name } = await addRoom(app, team, team.owner);
  const watcher = await enter(app, name, 'Watcher');
  const gone = await enter(app, name, 'Vera');
  await expectPeers(watcher, [gone.connectionId]);
  await other.http.post(`/api/dashboard/rooms/${name}/${path(gone)}`, team.owner.token);
  await gone.stream.ended;
  expect(gone.stream.events.at(-1)?.event).toBe(event);
  if (event === 'participant.removed') await expectPeers(watcher, []);
  else await watcher.stream.ended;
  expect(await app.services.db.meetingPage.count({ where: { participantId: gone.id } })).toBe(0);
  watcher.stream.close();
});

test('a refused participant, one who leaves, and everybody in a deleted room lose their streams', async () => {
  const { name } = await addWaitingRoom(app, team, team.owner);
  const host = await enter(app, name, 'Olive Owner', team.owner.token);
  const refused = await openPage(await join(app, name, 'Vera'));
  await decide(other, 'refuse', name, refused.id, team.owner.token);
  await refused.stream.ended;
  const admin = await enter(app, name, 'Adam Admin', team.admin.token);
  await expectPeers(host, [admin.connectionId]);
  await other.http.post(`/api/rooms/${name}/leave`, undefined, { token: admin.token });
  await admin.stream.ended;
  await expectPeers(host, []);
  await other.http.delete(`/api/dashboard/rooms/${name}`, team.owner.token);
  await host.stream.ended;
  expect(host.stream.events.at(-1)?.event).toBe('room.deleted');
});

test('a closed page stays a connection for ten seconds, and reopening it changes nothing for others', async () => {
  const { name } = await addRoom(app, team, team.owner);
  const host = await enter(app, name, 'Olive Owner', team.owner.token);
  const guest = await enter(other, name, 'Vera');
  await app.http.post(`/api/rooms/${name}/presence`, undefined, {
    token: guest.token,
    connection_id: guest.connectionId,
    microphone: 1,
  });
  await expect.poll(() => host.peers().peers[0]?.microphone).toBe(1);
  const lists = () => host.stream.events.filter(({ event }) => event === 'peers').length;
  const before = lists();
  // If its process were killed now, the page would end in time.
  const { expiresAt } = await app.services.db.meetingPage.findFirstOrThrow({ where: { participantId: guest.id } });
  expect(expiresAt.getTime()).toBeLessThanOrEqual(app.clock.now().getTime() + 10 * SECOND_MS);
  guest.stream.close();
  const back = await openPage(guest, guest.connectionId, app);
  await signal(back, host, 'I am back');
  await expect.poll(() => host.signals()).toHaveLength(1);
  expect(lists()).toBe(before);
  back.stream.close();
  await expectPeers(host, [null]);
  const expiry = { select: { seatedAt: true }, where: { participantId: guest.id } };
  expect(await app.services.db.meetingPage.findMany(expiry)).toEqual([{ seatedAt: null }]);
  const again = await openPage(guest, guest.connectionId);
  await expectPeers(host, [guest.connectionId]);
  close([host, again]);
});

test('a workspace with a meeting connection has no media, unless room or workspace say so', async () => {
  const paid = await addTeam(app);
  const create = { name: 'Video', provider: 'generic' };
  expect((await app.http.post(`${paid.path}/connections`, paid.owner.token, create)).status).toBe(200);
  const mediaIn = async (room: string) =>
    (await app.http.post(`/api/rooms/${room}/join`, undefined, { name: 'Vera' })).body.media.kind;
  const plain = await addRoom(app, paid, paid.owner);
  expect(await mediaIn(plain.name)).toBe('none');
  const page = await openPage(await join(app, plain.name, 'Page'));
  expect(mediaOf(page)).toEqual({ kind: 'none' });
  expect(await mediaIn((await addRoom(app, paid, paid.owner, { media: 'mesh' })).name)).toBe('mesh');
  await app.http.patch(`/api/dashboard/rooms/${plain.name}`, paid.owner.token, { media: 'mesh' });
  await expect.poll(() => mediaOf(page).kind).toBe('mesh');
  await app.http.patch(`/api/dashboard/rooms/${plain.name}`, paid.owner.token, { media: null });
  expect(await mediaIn(plain.name)).toBe('none');
  const settings = `${paid.path}/meeting-settings`;
  expect((await app.http.patch(settings, paid.admin.token, { media: 'mesh' })).body).toEqual({ media: 'mesh' });
  expect((await app.http.get(settings, paid.member.token)).body).toEqual({ media: 'mesh' });
  expect(await mediaIn(plain.name)).toBe('mesh');
  page.stream.close();
});
