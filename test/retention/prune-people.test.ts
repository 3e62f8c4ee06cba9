/** Old events and visits are deleted in batches, and analytics stays. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS } from '../../src/core/time.ts';
import { pruneEvents, pruneVisits } from '../../src/features/retention/prune-people.ts';
import { addRoom, type TestRoom } from '../participants/rooms.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
let room: TestRoom;

beforeAll(async () => {
  app = await startTestApp({ hasOwnEvents: true });
  team = await addTeam(app);
  room = await addRoom(app, team, team.admin);
  const { db } = app.services;
  const of = { workspaceId: team.id, roomId: room.id };
  const ended = { ...of, name: 'Old', status: 'left', lastSeenAt: daysAgo(40), createdAt: daysAgo(40) };
  await db.participant.createMany({
    data: Array.from({ length: 2_500 }, () => ({ ...ended, joinedAt: daysAgo(40), leftAt: daysAgo(40) })),
  });
  // Still in the room.
  await db.participant.create({
    data: { ...ended, name: 'Present', status: 'joined', joinedAt: daysAgo(40), lastSeenAt: daysAgo(0) },
  });
  await db.participant.create({
    data: { ...ended, name: 'New', createdAt: daysAgo(1), joinedAt: daysAgo(1), leftAt: daysAgo(1) },
  });
  await db.contactEvent.createMany({
    data: [40, 1].map((days) => ({ ...of, type: 'room_join', createdAt: daysAgo(days) })),
  });
  await db.event.createMany({
    data: Array.from({ length: 2_500 }, () => event(40, daysAgo(40))).concat(event(40, null), event(1, daysAgo(1))),
  });
});
afterAll(() => app.close());

let sequence = 1_000_000n;

/** `relayedAt` is null for an event that webhooks have not got. */
function event(days: number, relayedAt: Date | null) {
  sequence += 1n;
  const relayed = { relayedAt, sequence: relayedAt === null ? null : sequence };
  return { workspaceId: team.id, type: 'room.test', data: { days }, createdAt: daysAgo(days), ...relayed };
}

function daysAgo(days: number): Date {
  return new Date(app.clock.now().getTime() - days * DAY_MS);
}

function withSettings(settings: Partial<TestApp['services']['settings']>) {
  return { ...app.services, settings: { ...app.services.settings, ...settings } };
}

test('without a setting nothing is deleted', async () => {
  expect([await pruneEvents(app.services), await pruneVisits(app.services)]).toEqual([0, 0]);
});

test('old events are deleted once webhooks have got them', async () => {
  expect(await pruneEvents(withSettings({ eventRetentionDays: 30 }))).toBe(2_500);
  const left = await app.services.db.event.findMany({ where: { type: 'room.test' }, select: { relayedAt: true } });
  expect(left.map(({ relayedAt }) => relayedAt === null)).toEqual([true, false]);
});

test('old visits that have ended are deleted, and the figures of analytics stay', async () => {
  const figures = async () => (await app.http.get(`${team.path}/analytics`, team.owner.token)).body;
  const before = await figures();
  expect(await pruneVisits(withSettings({ visitRetentionDays: 30 }))).toBe(2_501);
  const left = await app.services.db.participant.findMany({ select: { name: true }, orderBy: { id: 'asc' } });
  expect(left.map(({ name }) => name)).toEqual(['Present', 'New']);
  expect(await app.services.db.contactEvent.count()).toBe(1);
  expect(await figures()).toEqual(before);
});
