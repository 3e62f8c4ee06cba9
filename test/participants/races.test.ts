/** Concurrent changes of participants, without deadlocks, which would be retried unnoticed. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { lockWorkspace } from '../../src/auth/workspace-lock.ts';
import { type Database, type Tx, transact } from '../../src/db/client.ts';
import type { ProviderEvent } from '../../src/features/meeting-providers/adapters/provider-event.ts';
import { applyEvent } from '../../src/features/meeting-providers/ingest/apply-callback.ts';
import { expireParticipants } from '../../src/features/participants/expire-participants.ts';
import { sweepRetention } from '../../src/features/retention/sweep-retention.ts';
import { defaultQuotas } from '../../src/quotas/quotas.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Team, upload } from '../support/world.ts';
import { addGuest, addRoom, addWaitingRoom, decide, join, leave, list, presence, roomEvents } from './rooms.ts';

let app: TestApp;
let team: Team;
const deadlocks: unknown[] = [];

/** Records the transactions that PostgreSQL ended because of a deadlock. */
function watchDeadlocks(db: Database): Database {
  return new Proxy(db, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (property !== '$transaction') return value;
      return async (work: (tx: Tx) => Promise<unknown>): Promise<unknown> => {
        try {
          return await target.$transaction(work);
        } catch (error) {
          if (/P2034|40P01/.test(JSON.stringify(error))) deadlocks.push(error);
          throw error;
        }
      };
    },
  });
}

beforeAll(async () => {
  app = await startTestApp({ wrapDatabase: watchDeadlocks });
  team = await addTeam(app);
});
afterEach(() => expect(deadlocks).toEqual([]));
afterAll(() => app.close());

test('50 joins at once all succeed, and two guests with one email address are one contact', async () => {
  const room = await addRoom(app, team, team.owner);
  const answers = await concurrently(50, (index) =>
    join(app, room.name, { name: `Guest ${index % 2}`, email: `${index % 2 ? 'ONE' : 'one'}@example.com` }),
  );
  expect(countStatuses(answers)).toEqual({ 200: 50 });
  expect(new Set(answers.map(({ body }) => body.participant.token)).size).toBe(50);
  expect(await app.services.db.contact.count({ where: { workspaceId: team.id, email: 'one@example.com' } })).toBe(1);
  expect(await roomEvents(app, team.id, room.id, 'room.joined')).toHaveLength(50);
  const { topRooms } = (await app.http.get(`${team.path}/analytics`, team.owner.token)).body;
  expect(topRooms).toContainEqual(expect.objectContaining({ id: room.id, count: 50 }));
});

test('a participant who is admitted by 20 calls at once joins once', async () => {
  const room = await addWaitingRoom(app, team, team.owner);
  const { id } = await addGuest(app, room.name, { name: 'Will', email: 'will@example.com' });
  const answers = await concurrently(20, (index) =>
    decide(app, 'admit', room.name, id, (index % 2 ? team.owner : team.admin).token),
  );
  expect(countStatuses(answers)).toEqual({ 200: 20 });
  expect(await roomEvents(app, team.id, room.id, 'room.joined')).toHaveLength(1);
  expect(await app.services.db.contactEvent.count({ where: { roomId: room.id } })).toBe(1);
});

test('of admitting and refusing at once, one succeeds', async () => {
  const room = await addWaitingRoom(app, team, team.owner);
  for (let round = 0; round < 5; round += 1) {
    const { id } = await addGuest(app, room.name);
    const answers = await concurrently(8, (index) =>
      decide(app, index % 2 ? 'admit' : 'refuse', room.name, id, team.owner.token),
    );
    expect(countStatuses(answers)).toEqual({ 200: 4, 409: 4 });
  }
});

test('a participant who leaves 20 times and expires at the same time leaves once', async () => {
  const room = await addRoom(app, team, team.owner);
  const { token } = await addGuest(app, room.name);
  app.clock.advance(301_000);
  const [answers] = await Promise.all([
    concurrently(20, () => leave(app, room.name, token)),
    concurrently(3, () => expireParticipants(app.services)),
  ]);
  expect(countStatuses(answers)).toEqual({ 200: 20 });
  expect(await roomEvents(app, team.id, room.id, 'room.left')).toHaveLength(1);
});

test('a participant who leaves while being admitted joins and leaves, or only leaves', async () => {
  const room = await addWaitingRoom(app, team, team.owner);
  await concurrently(10, async () => {
    const { id, token } = await addGuest(app, room.name);
    const [admitted, left] = await Promise.all([
      decide(app, 'admit', room.name, id, team.owner.token),
      leave(app, room.name, token),
    ]);
    expect(left.status).toBe(200);
    expect([200, 409]).toContain(admitted.status);
  });
  const joined = await roomEvents(app, team.id, room.id, 'room.joined');
  expect(await roomEvents(app, team.id, room.id, 'room.left')).toHaveLength(joined.length);
  expect((await list(app, room.name, team.owner.token)).body.participants).toEqual([]);
});

test('in a room that is deleted while people join and leave, everyone who joined leaves once', async () => {
  await concurrently(6, async () => {
    const room = await addRoom(app, team, team.owner);
    const [first, second] = [await addGuest(app, room.name), await addGuest(app, room.name)];
    const [deleted, ...others] = await Promise.all([
      app.http.delete(`/api/dashboard/rooms/${room.name}`, team.owner.token),
      leave(app, room.name, first.token),
      presence(app, room.name, second.token),
      ...Array.from({ length: 4 }, (_, index) =>
        join(app, room.name, { name: 'G', email: `${room.name}-${index}@example.com` }),
      ),
    ]);
    expect(deleted?.status).toBe(200);
    for (const { status } of others) expect([200, 404]).toContain(status);
    const idsOf = async (type: string): Promise<unknown[]> =>
      (await roomEvents(app, team.id, room.id, type))
        .map((data) => (data as { participant_id: number }).participant_id)
        .sort((one, other) => one - other);
    expect(await idsOf('room.left')).toEqual(await idsOf('room.joined'));
  });
});

test('joins, admissions and leaves run beside uploads, labels, retention and changes of roles', async () => {
  const rooms = [await addRoom(app, team, team.owner), await addWaitingRoom(app, team, team.owner)] as const;
  await app.http.patch(`${team.path}/retention`, team.owner.token, { media_retention_days: 7 });
  const statuses = await concurrently(60, async (index) => {
    const [open, guarded] = rooms;
    const email = `guest${index % 4}@example.com`;
    switch (index % 6) {
      case 0:
        return (await join(app, open.name, { name: `G${index}`, email })).status;
      case 1: {
        const { id } = await addGuest(app, guarded.name, { name: 'W', email });
        return (await decide(app, 'admit', guarded.name, id, team.owner.token)).status;
      }
      case 2: {
        const { token } = await addGuest(app, open.name, { name: 'L', email });
        return (await leave(app, open.name, token)).status;
      }
      case 3:
        return (await app.http.post(`${team.path}/labels`, team.owner.token, { name: `Label ${index}` })).status;
      case 4:
        await sweepRetention(app.services);
        return (await upload(app, team.path, team.member.token)).status;
      default: {
        const role = index % 4 < 2 ? 'admin' : 'member';
        return (await app.http.patch(`${team.path}/members/${team.member.id}`, team.owner.token, { role })).status;
      }
    }
  });
  expect(statuses).toEqual(statuses.map(() => 200));
});

test('joins during the deletion of a workspace or an account succeed or fail cleanly', async () => {
  await concurrently(5, async (index) => {
    const owner = await addPerson(app);
    const { workspace } = await owner.client.workspaces.create.mutate({ name: 'Short-lived' });
    const name = `short-visit-${index}`;
    await app.http.post('/api/dashboard/rooms', owner.token, { name, workspace_id: workspace.id });
    const room = await addRoom(app, team, team.owner);
    const leaver = await addPerson(app);
    const { token } = await addGuest(app, name);
    const [deleted, ended, left, ...joined] = await Promise.all([
      app.http.delete(`/api/workspaces/${workspace.id}`, owner.token),
      app.http.delete('/api/auth/me', leaver.token),
      leave(app, name, token),
      ...Array.from({ length: 4 }, () => join(app, name, { name: 'G', email: 'g@example.com' })),
      ...Array.from({ length: 4 }, () => join(app, room.name, { name: 'Lea' }, leaver.token)),
    ]);
    expect([deleted?.status, ended?.status]).toEqual([200, 200]);
    expect([200, 404]).toContain(left?.status);
    for (const { status } of joined) expect([200, 401, 404]).toContain(status);
  });
});

test('concurrent and repeated reports of a provider count once, at the reported times', async () => {
  const room = await addRoom(app, team, team.owner);
  const cameAt = new Date('2026-01-05T10:00:00Z');
  const visit = { room: { kind: 'name', name: room.name }, participantReference: 'c-1' } as const;
  const tell = (event: ProviderEvent) =>
    transact(app.services.db, async (tx) => {
      await lockWorkspace(tx, team.id);
      const context = {
        tx,
        now: app.clock.now(),
        sealer: app.services.sealer,
        quotas: defaultQuotas,
        workspaceId: team.id,
        connectionId: 1,
      };
      await applyEvent(context, event);
    });
  const joined = { kind: 'participant.joined', ...visit, name: 'Pia', email: 'pia@example.com', token: null } as const;
  await concurrently(10, () => tell({ ...joined, at: cameAt }));
  const { db } = app.services;
  const statuses = async () =>
    (await db.participant.findMany({ where: { roomId: room.id } })).map(({ status }) => status);
  expect(await statuses()).toEqual(['joined']);
  // Reported with a clock that is slow.
  const left = { kind: 'participant.left', ...visit, at: new Date(cameAt.getTime() - 5_000) } as const;
  await concurrently(10, () => tell(left));
  expect(await statuses()).toEqual(['left']);
  await tell({ ...joined, at: cameAt });
  expect(await statuses()).toEqual(['left']);
  const seconds = cameAt.getTime() / 1000;
  expect(await roomEvents(app, team.id, room.id, 'room.joined')).toMatchObject([{ joined_at: seconds }]);
  expect(await roomEvents(app, team.id, room.id, 'room.left')).toMatchObject([
    { joined_at: seconds, left_at: seconds, participant_name: 'Pia' },
  ]);
  const contact = await app.services.db.contact.findFirstOrThrow({ where: { email: 'pia@example.com' } });
  expect(contact.createdAt).toEqual(cameAt);
  // Earlier than the room was created, so `last_used_at` does not change.
  const { lastUsedAt, createdAt } = await app.services.db.room.findFirstOrThrow({ where: { id: room.id } });
  expect(lastUsedAt).toEqual(createdAt);
});

/** Lets `call` wait for the workspace's lock while `change` is made. */
async function overtaken<Answer>(
  { id }: Team,
  change: (tx: Tx) => Promise<unknown>,
  call: () => Promise<Answer>,
): Promise<Answer> {
  const { answer } = await app.services.db.$transaction(async (tx) => {
    await lockWorkspace(tx, id);
    const waiting = call();
    for (;;) {
      const [locks] = await tx.$queryRaw<{ count: number }[]>`
        select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      if (locks && locks.count > 0) break;
    }
    await change(tx);
    return { answer: waiting };
  });
  return answer;
}

test('a caller who stops being a host while waiting for the lock admits nobody, and waits when joining', async () => {
  const other = await addTeam(app);
  const room = await addWaitingRoom(app, other, other.owner);
  const { id } = await addGuest(app, room.name);
  const where = { workspaceId_userId: { workspaceId: other.id, userId: other.admin.id } };
  const become = (role: string) => (tx: Tx) => tx.member.update({ where, data: { role } });
  const admitted = await overtaken(other, become('member'), () =>
    decide(app, 'admit', room.name, id, other.admin.token),
  );
  expect([admitted.status, admitted.body.message]).toEqual([404, 'Room not found']);
  await become('admin')(app.services.db);
  const joined = await overtaken(other, become('member'), () => join(app, room.name, {}, other.admin.token));
  expect(joined.body.participant.status).toBe('waiting');
  expect(await roomEvents(app, other.id, room.id, 'room.joined')).toEqual([]);
});

test('a room that is deleted while a join waits for the lock: 404', async () => {
  const room = await addRoom(app, team, team.owner);
  const remove = (tx: Tx) => tx.room.deleteMany({ where: { id: room.id } });
  const answer = await overtaken(team, remove, () => join(app, room.name, { name: 'G' }));
  expect([answer.status, answer.body.message]).toEqual([404, 'Room not found']);
});
