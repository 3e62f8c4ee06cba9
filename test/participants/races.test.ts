/** Concurrent changes of participants, without deadlocks, which would be retried unnoticed. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { lockWorkspace } from '../../src/auth/workspace-lock.ts';
import { type Database, type Tx, transact } from '../../src/db/client.ts';
import type { ProviderEvent } from '../../src/features/meeting-providers/adapters/provider-event.ts';
import { applyEvent } from '../../src/features/meeting-providers/ingest/apply-callback.ts';
import { expireParticipants } from '../../src/features/participants/expire-participants.ts';
import { sweepRetention } from '../../src/features/retention/sweep-retention.ts';
import { defaultQuotas } from '../../src/quotas/quotas.ts';
import { lock, lockedOut } from '../moderation/moderate.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import type { Answer } from '../support/http.ts';
import { changeWhileBlocked, waitForLockWait } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Team, upload } from '../support/world.ts';
import {
  addGuest,
  addRoom,
  addWaitingRoom,
  decide,
  join,
  leave,
  list,
  presence,
  roomEvents,
  type TestRoom,
} from './rooms.ts';

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
afterAll(async () => {
  // Statements are retried unnoticed too. PostgreSQL counts what it cancelled.
  const [row] = await app.services.db.$queryRaw<{ deadlocks: bigint }[]>`
    select deadlocks from pg_stat_database where datname = current_database()`;
  await app.close();
  expect(Number(row?.deadlocks)).toBe(0);
});

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

async function become(other: Team, role: string): Promise<void> {
  const where = { workspaceId_userId: { workspaceId: other.id, userId: other.admin.id } };
  await app.services.db.member.update({ where, data: { role } });
}

test('a caller who stops being a host while waiting for the lock admits nobody', async () => {
  const other = await addTeam(app);
  const room = await addWaitingRoom(app, other, other.owner);
  const { id } = await addGuest(app, room.name);
  const admitted = await changeWhileBlocked(
    app,
    `select from workspaces where id = ${other.id} for no key update`,
    () => decide(app, 'admit', room.name, id, other.admin.token),
    () => become(other, 'member'),
  );
  expect([admitted.status, admitted.body.message]).toEqual([404, 'Room not found']);
  expect(await roomEvents(app, other.id, room.id, 'room.joined')).toEqual([]);
});

describe('a host who joins during a change of their role', () => {
  let other: Team;
  let room: TestRoom;
  beforeEach(async () => {
    other = await addTeam(app);
    room = await addWaitingRoom(app, other, other.owner);
  });

  const joinAsAdmin = () => join(app, room.name, {}, other.admin.token);
  const ofAdmin = () => `where workspace_id = ${other.id} and user_id = ${other.admin.id}`;
  const demotion = () => `update members set role = 'member' ${ofAdmin()}`;

  test('waits if they are removed from the workspace', async () => {
    const removal = `delete from members ${ofAdmin()}`;
    expect((await changeWhileBlocked(app, removal, joinAsAdmin)).body.participant.status).toBe('waiting');
    expect(await roomEvents(app, other.id, room.id, 'room.joined')).toEqual([]);
  });

  test('enters as a member if they are demoted, but not while the room is locked', async () => {
    expect((await changeWhileBlocked(app, demotion(), joinAsAdmin)).body.participant.status).toBe('joined');
    await become(other, 'admin');
    const closed = await addWaitingRoom(app, other, other.owner);
    await lock(app, closed.name, other.owner.token);
    const joinClosed = () => join(app, closed.name, {}, other.admin.token);
    expect(await changeWhileBlocked(app, demotion(), joinClosed)).toMatchObject(lockedOut);
  });

  test('enters if the demotion is rolled back', async () => {
    const { body } = await changeWhileBlocked(app, demotion(), joinAsAdmin, undefined, 'rollback');
    expect(body.participant.status).toBe('joined');
  });

  test('enters if they were first: the demotion waits', async () => {
    // Holds up the join after it has locked the role.
    const sameContact = `insert into contacts (workspace_id, name, email, created_at)
      values (${other.id}, 'Adam', '${other.admin.email}', now())`;
    let demoted: Promise<Answer> | undefined;
    const demote = () => {
      demoted = app.http.patch(`${other.path}/members/${other.admin.id}`, other.owner.token, { role: 'member' });
      return waitForLockWait(app, 2);
    };
    const joined = await changeWhileBlocked(app, sameContact, joinAsAdmin, demote, 'rollback');
    expect([joined.body.participant.status, (await demoted)?.status]).toEqual(['joined', 200]);
  });
});

test('a participant gets the contact that is added while they join, and joins once', async () => {
  const room = await addRoom(app, team, team.owner);
  const email = 'added-meanwhile@example.com';
  const sameContact = `insert into contacts (workspace_id, name, email, created_at)
    values (${team.id}, 'Gus', '${email}', now())`;
  const { body } = await changeWhileBlocked(app, sameContact, () => join(app, room.name, { name: 'G', email }));
  const contacts = await app.services.db.contact.findMany({ where: { email } });
  expect(await roomEvents(app, team.id, room.id, 'room.joined')).toMatchObject([
    { participant_id: body.participant.id, contact_id: contacts[0]?.id },
  ]);
  expect(contacts).toHaveLength(1);
});

test.each([
  ['room', (room: TestRoom, _: Team) => `delete from rooms where id = ${room.id}`],
  ['workspace', (_: TestRoom, other: Team) => `delete from workspaces where id = ${other.id}`],
])('a %s that is deleted while a join or a leave waits: 404', async (_, deletion) => {
  for (const kind of ['join', 'leave']) {
    const other = await addTeam(app);
    const room = await addRoom(app, other, other.owner);
    const { token } = await addGuest(app, room.name);
    const call = () => (kind === 'join' ? join(app, room.name, { name: 'G' }) : leave(app, room.name, token));
    const { status, body } = await changeWhileBlocked(app, deletion(room, other), call);
    // Whoever leaves a deleted room has left.
    if (status !== 200)
      expect([status, body.message]).toEqual([404, expect.stringMatching(/^(?:Room|Participant) not/)]);
    expect(kind === 'join' ? status : 404).toBe(404);
  }
});

test('a guest who joins while the waiting room is switched off enters, and nobody waits afterwards', async () => {
  const room = await addWaitingRoom(app, team, team.owner);
  const switchOff = `update rooms set waiting_room_enabled = false where id = ${room.id}`;
  const { body } = await changeWhileBlocked(app, switchOff, () => join(app, room.name, { name: 'G' }));
  expect(body.participant.status).toBe('joined');
  await concurrently(8, async () => {
    const { name, id } = await addWaitingRoom(app, team, team.owner);
    const [switched, ...joined] = await Promise.all([
      app.http.patch(`/api/dashboard/rooms/${name}`, team.owner.token, { waiting_room_enabled: 0 }),
      ...Array.from({ length: 4 }, (_, index) => join(app, name, { name: 'G', email: `off${index}@example.com` })),
    ]);
    expect([switched, ...joined].map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await app.services.db.participant.count({ where: { roomId: id, status: 'joined' } })).toBe(4);
    expect(await roomEvents(app, team.id, id, 'room.joined')).toHaveLength(4);
  });
});

test('joins of one second write the room once, and do not wait for its row', async () => {
  const room = await addRoom(app, team, team.owner);
  await app.services.db.room.updateMany({
    where: { id: room.id },
    data: { lastUsedAt: new Date(app.clock.now().getTime() + 60_000) },
  });
  const held = new pg.Client({ connectionString: app.databaseUrl });
  await held.connect();
  await held.query('begin');
  await held.query(`select from rooms where id = ${room.id} for no key update`);
  expect((await join(app, room.name, { name: 'G', email: 'same-second@example.com' })).status).toBe(200);
  await held.end();
  app.clock.advance(120_000);
  await join(app, room.name, { name: 'G' });
  const { lastUsedAt } = await app.services.db.room.findFirstOrThrow({ where: { id: room.id } });
  expect(lastUsedAt.getTime()).toBeGreaterThan(Date.now() + 61_000);
});
