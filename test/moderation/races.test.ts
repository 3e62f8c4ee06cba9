/** Hosts lock, close and remove while people join, leave and send heartbeats. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addGuest, addRoom, addWaitingRoom, decide, join, leave, presence, roomEvents } from '../participants/rooms.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import type { Answer } from '../support/http.ts';
import { changeWhileBlocked, waitForLockWait } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { close, lock, lockedOut, remove } from './moderate.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(async () => {
  // A deadlock is retried unnoticed. PostgreSQL counts what it cancelled.
  const [row] = await app.services.db.$queryRaw<{ deadlocks: bigint }[]>`
    select deadlocks from pg_stat_database where datname = current_database()`;
  await app.close();
  expect(Number(row?.deadlocks)).toBe(0);
});

const idsOf = async (roomId: number, type: string): Promise<number[]> =>
  (await roomEvents(app, team.id, roomId, type))
    .map((data) => (data as { participant_id: number }).participant_id)
    .sort((one, other) => one - other);

test('nobody joins after the answer that the room is locked, however the calls overlap', async () => {
  await concurrently(8, async (index) => {
    const room = await (index % 2 ? addRoom : addWaitingRoom)(app, team, team.owner);
    const countInside = () => app.services.db.participant.count({ where: { roomId: room.id } });
    const [insideThen, ...joins] = await Promise.all([
      lock(app, room.name, team.owner.token).then(countInside),
      ...Array.from({ length: 6 }, (_, guest) =>
        join(app, room.name, { name: `G${guest}`, email: `g${guest}@example.com` }),
      ),
    ]);
    expect(countStatuses(joins)).toEqual({
      ...(insideThen > 0 && { 200: insideThen }),
      ...(insideThen < 6 && { 403: 6 - insideThen }),
    });
    expect(countStatuses(await concurrently(4, () => join(app, room.name, { name: 'Late' })))).toEqual({ 403: 4 });
  });
});

test('a join that waits for the lock of the room sees that it was locked meanwhile', async () => {
  const room = await addRoom(app, team, team.owner);
  const answer = await changeWhileBlocked(
    app,
    `select from rooms where id = ${room.id} for update`,
    () => join(app, room.name, { name: 'G', email: 'g@example.com' }),
    (client) => client.query(`update rooms set locked_at = now() where id = ${room.id}`),
  );
  expect(answer).toMatchObject(lockedOut);
});

test('a lock waits for a join that has begun', async () => {
  const room = await addRoom(app, team, team.owner);
  // Holds up the join after it has locked the room.
  const sameContact = `insert into contacts (workspace_id, name, email, created_at)
    values (${team.id}, 'Held', 'held@example.com', now())`;
  let locked: Promise<Answer> | undefined;
  const joined = await changeWhileBlocked(
    app,
    sameContact,
    () => join(app, room.name, { name: 'G', email: 'held@example.com' }),
    () => {
      locked = lock(app, room.name, team.owner.token);
      return waitForLockWait(app, 2);
    },
    'rollback',
  );
  expect([joined.status, (await locked)?.status]).toEqual([200, 200]);
});

test('a removed person who joins at that moment is either removed with the visit or waits', async () => {
  const room = await addRoom(app, team, team.owner);
  const { id } = await addGuest(app, room.name, { name: 'Rex' });
  const back = await changeWhileBlocked(
    app,
    `select from rooms where id = ${room.id} for update`,
    () => join(app, room.name, { name: 'Rex' }),
    (client) =>
      client.query(`update participants set status = 'left', left_at = now(), end_reason = 'removed',
        barred_until = now() + interval '1 day' where id = ${id}`),
  );
  expect(back.body.participant.status).toBe('waiting');
});

test('a participant who is removed, leaves, reloads and sends heartbeats at once leaves once', async () => {
  const room = await addRoom(app, team, team.owner);
  await concurrently(10, async (index) => {
    const name = `P${index}`;
    const { id, token } = await addGuest(app, room.name, { name });
    const [removed, ...others] = await Promise.all([
      remove(app, room.name, id, team.owner.token),
      presence(app, room.name, token),
      ...(index % 2 ? [leave(app, room.name, token)] : []),
      join(app, room.name, { name, token }),
      remove(app, room.name, id, team.admin.token),
    ]);
    expect(removed?.status).toBe(200);
    for (const { status } of others) expect([200, 403]).toContain(status);
    expect((await presence(app, room.name, token)).body.code).toBe('PARTICIPANT_REMOVED');
    expect((await idsOf(room.id, 'room.left')).filter((one) => one === id)).toHaveLength(1);
  });
});

test('of everyone who joined before or while a meeting is closed, each leaves at most once', async () => {
  await concurrently(6, async () => {
    const room = await addWaitingRoom(app, team, team.owner);
    const guests = [await addGuest(app, room.name), await addGuest(app, room.name), await addGuest(app, room.name)];
    const [first, second] = guests as [(typeof guests)[0], (typeof guests)[0]];
    await decide(app, 'admit', room.name, first.id, team.owner.token);
    const answers = await Promise.all([
      close(app, room.name, team.owner.token),
      close(app, room.name, team.admin.token),
      decide(app, 'admit', room.name, second.id, team.owner.token),
      leave(app, room.name, first.token),
      join(app, room.name, {}, team.admin.token),
    ]);
    for (const { status } of answers) expect([200, 409]).toContain(status);
    await close(app, room.name, team.owner.token);
    expect(await idsOf(room.id, 'room.left')).toEqual(await idsOf(room.id, 'room.joined'));
    expect(
      await app.services.db.participant.count({ where: { roomId: room.id, status: { in: ['waiting', 'joined'] } } }),
    ).toBe(0);
  });
});

test('a meeting that is closed while somebody joins either ends the visit or begins another one', async () => {
  await concurrently(8, async () => {
    const room = await addRoom(app, team, team.owner);
    const [joined] = await Promise.all([
      join(app, room.name, { name: 'G', email: 'closing@example.com' }),
      close(app, room.name, team.owner.token),
    ]);
    expect(joined?.status).toBe(200);
    const { participant } = (await presence(app, room.name, joined?.body.participant.token)).body;
    expect([participant.status, participant.end_reason]).toEqual(
      participant.status === 'left' ? ['left', 'closed'] : ['joined', null],
    );
    expect(await roomEvents(app, team.id, room.id, 'room.left')).toHaveLength(participant.status === 'left' ? 1 : 0);
  });
});
