/** A host locks a room. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addGuest, addRoom, addWaitingRoom, decide, join, leave, presence } from '../participants/rooms.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Team } from '../support/world.ts';
import { lock, lockedOut, remove, unlock } from './moderate.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

test('nobody new joins a locked room or its waiting room; its hosts do', async () => {
  for (const room of [await addRoom(app, team, team.owner), await addWaitingRoom(app, team, team.owner)]) {
    const locked = await lock(app, room.name, team.admin.token);
    expect([locked.status, locked.body.room.locked]).toEqual([200, 1]);
    expect((await app.http.get(`/api/rooms/${room.name}`)).body.room.locked).toBe(1);
    const answer = await join(app, room.name, { name: 'Late' });
    expect(answer).toMatchObject(lockedOut);
    expect(answer.body.message).toBe('The room is locked: a host must unlock it');
    expect(await join(app, room.name, {}, team.member.token)).toMatchObject(lockedOut);
    for (const host of [team.owner, team.admin]) {
      const { participant } = (await join(app, room.name, {}, host.token)).body;
      expect(participant).toMatchObject({ status: 'joined', room_locked: 1 });
    }
    expect((await unlock(app, room.name, team.owner.token)).body.room.locked).toBe(0);
    expect((await join(app, room.name, { name: 'Late' })).status).toBe(200);
  }
});

test('those who were inside stay, learn that it is locked, and come back after a reload or after leaving', async () => {
  const room = await addRoom(app, team, team.owner);
  const user = await addPerson(app);
  const guest = await addGuest(app, room.name);
  const ofUser = (await join(app, room.name, {}, user.token)).body.participant;
  await lock(app, room.name, team.owner.token);
  expect((await presence(app, room.name, guest.token)).body.participant).toMatchObject({
    status: 'joined',
    room_locked: 1,
  });
  expect((await join(app, room.name, { token: guest.token })).body.participant.id).toBe(guest.id);
  expect((await join(app, room.name, {}, user.token)).body.participant.id).toBe(ofUser.id);
  await leave(app, room.name, guest.token);
  await leave(app, room.name, ofUser.token);
  const back = (await join(app, room.name, { name: 'Gina', token: guest.token })).body.participant;
  expect([back.status, back.id === guest.id]).toEqual(['joined', false]);
  expect((await join(app, room.name, {}, user.token)).body.participant.status).toBe('joined');
  // Removed from a locked room, they would be new.
  await remove(app, room.name, back.id, team.owner.token);
  expect(await join(app, room.name, { name: 'Gina', token: back.token })).toMatchObject(lockedOut);
});

test('those who wait do not enter a locked room by joining again, even without a waiting room', async () => {
  const room = await addWaitingRoom(app, team, team.owner);
  const guest = await addGuest(app, room.name);
  // As when the waiting room was switched off while the room was full.
  await app.services.db.room.updateMany({ where: { id: room.id }, data: { waitingRoomEnabled: false } });
  await lock(app, room.name, team.owner.token);
  const again = () => join(app, room.name, { token: guest.token });
  expect((await again()).body).toMatchObject({ participant: { id: guest.id, status: 'waiting' }, media: null });
  await unlock(app, room.name, team.owner.token);
  expect((await again()).body.participant).toMatchObject({ id: guest.id, status: 'joined' });
});

test('those who left before it was locked do not come back; those who wait can still be admitted', async () => {
  const room = await addWaitingRoom(app, team, team.owner);
  const [gone, waiting] = [await addGuest(app, room.name), await addGuest(app, room.name)];
  await decide(app, 'admit', room.name, gone.id, team.owner.token);
  await leave(app, room.name, gone.token);
  app.clock.advance(1);
  await lock(app, room.name, team.owner.token);
  expect(await join(app, room.name, { name: 'Gina', token: gone.token })).toMatchObject(lockedOut);
  const admitted = await decide(app, 'admit', room.name, waiting.id, team.owner.token);
  expect(admitted.body.participant.status).toBe('joined');
});

test('locking twice is one lock, with one entry in the audit log for it and one for unlocking', async () => {
  const room = await addRoom(app, team, team.owner);
  for (const change of [lock, lock, unlock, unlock])
    expect((await change(app, room.name, team.owner.token)).status).toBe(200);
  const entries = await app.services.db.auditEntry.findMany({
    where: { workspaceId: team.id, targetKind: 'room', targetId: room.id },
    orderBy: { id: 'asc' },
  });
  expect(entries.map(({ action }) => action)).toEqual(['room.locked', 'room.unlocked']);
});
