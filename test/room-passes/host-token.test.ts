/** What the own token of a participant is a credential for: the acts of hosts, by a pass, in one room. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rows } from '../contract/operations.ts';
import { createWorld, type Scene, type World } from '../contract/scene.ts';
import { isServed, transports } from '../contract/transports.ts';
import { close, lock, remove, unlock } from '../moderation/moderate.ts';
import { addGuest, decide, expectError, list, presence } from '../participants/rooms.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import type { Answer } from '../support/http.ts';
import { startTestApp } from '../support/test-app.ts';

const ACTS = [
  'participants.list',
  'participants.admit',
  'participants.refuse',
  'participants.remove',
  'rooms.lock',
  'rooms.unlock',
  'rooms.close',
  'rooms.muteAll',
];

let world: World;
let scene: Scene;
beforeAll(async () => {
  world = await createWorld(await startTestApp());
  scene = await world.addScene();
});
afterAll(() => world.app.close());

let room: string;
let host: { id: number; token: string };
async function addRoom(): Promise<string> {
  const input = { workspace_id: scene.workspaceId, waiting_room_enabled: 1 };
  return (await world.app.http.post('/api/dashboard/rooms', scene.owner.token, input)).body.room.name;
}

/** Lets a person into a room with a pass, by the owner. */
async function enter(json: object, inRoom = room): Promise<{ id: number; token: string }> {
  const { http } = world.app;
  const path = `/api/workspaces/${scene.workspaceId}/rooms/${inRoom}/participants`;
  const { body } = await http.post(path, scene.owner.token, { name: 'Vera Novak', ...json });
  return (await http.post(`/api/rooms/${inRoom}/exchange`, undefined, { token: body.token })).body.participant;
}

async function addHost(): Promise<void> {
  room = await addRoom();
  host = await enter({ is_host: 1 });
}

describe('the token of a host by a pass', () => {
  beforeEach(addHost);

  test('admits, refuses, removes, locks, unlocks and closes, which the audit log says', async () => {
    const { app } = world;
    const [first, second] = [await addGuest(app, room), await addGuest(app, room, { name: 'Gus' })];
    const { participants } = (await list(app, room, host.token, '?status=waiting')).body;
    expect(participants.map(({ id }: { id: number }) => id)).toEqual([second.id, first.id]);
    expect((await decide(app, 'admit', room, first.id, host.token)).body.participant.status).toBe('joined');
    expect((await decide(app, 'refuse', room, second.id, host.token)).body.participant.status).toBe('refused');
    expect((await remove(app, room, first.id, host.token)).body.participant.end_reason).toBe('removed');
    expect((await lock(app, room, host.token)).body.room).toMatchObject({ name: room, locked: 1 });
    expect((await unlock(app, room, host.token)).body.room).toMatchObject({ name: room, locked: 0 });
    expect((await close(app, room, host.token)).body).toEqual({ left: 1, refused: 0, stopped_recordings: 0 });
    const query = '?actor_kind=participant&limit=4';
    const audit = await app.http.get(`/api/workspaces/${scene.workspaceId}/audit${query}`, scene.owner.token);
    const actor = { kind: 'participant', participant_id: host.id, user_id: null, key_id: null };
    expect(audit.body.entries).toEqual(
      ['room.closed', 'room.unlocked', 'room.locked', 'room.participant_removed'].map((action) =>
        expect.objectContaining({ action, actor: { ...actor, name: null, address: null, via: null } }),
      ),
    );
    // Closing ended the visit of the host too.
    expectError(await lock(app, room, host.token), 403, 'Forbidden');
  });

  test('is good for one admission by 6 calls at once', async () => {
    const guest = await addGuest(world.app, room);
    const answers = await concurrently(6, () => decide(world.app, 'admit', room, guest.id, host.token));
    expect(countStatuses(answers)).toEqual({ 200: 6 });
    expect((await presence(world.app, room, guest.token)).body.participant.status).toBe('joined');
  });

  test('repeats an act with the same Idempotency-Key', async () => {
    const guest = await addGuest(world.app, room);
    const path = `/api/dashboard/rooms/${room}/participants/${guest.id}/remove`;
    const call = (): Promise<Answer> =>
      world.app.http.call('POST', path, { token: host.token, headers: { 'idempotency-key': 'remove-once' } });
    const [first, second] = [await call(), await call()];
    expect([first.status, second.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(second.body).toEqual(first.body);
  });

  test('works in no other room, and not under a name that no room has', async () => {
    for (const other of [await addRoom(), 'nowhere-at-all', 'a%00b']) {
      expectError(await lock(world.app, other, host.token), 404, 'Room not found');
      expectError(await list(world.app, other, host.token), 404, 'Room not found');
    }
  });

  test('ends with the rights of its maker, a removal and the end of the visit', async () => {
    const { app } = world;
    const other = await enter({ name: 'Wim', is_host: 1 });
    expect((await remove(app, room, other.id, host.token)).status).toBe(200);
    expect(await lock(app, room, other.token)).toMatchObject({ status: 403, body: { code: 'PARTICIPANT_REMOVED' } });
    await app.http.post(`/api/rooms/${room}/leave`, undefined, { token: host.token });
    expectError(await lock(app, room, host.token), 403, 'Forbidden');
    const late = await enter({ is_host: 1, expires_at: Math.floor(app.clock.now().getTime() / 1000) + 60 });
    expect((await lock(app, room, late.token)).status).toBe(200);
    app.clock.advance(61_000);
    expectError(await lock(app, room, late.token), 403, 'Forbidden');
    app.clock.advance(-61_000);
  });
});

test('a guest, a member and an admitted person without is_host have no such rights', async () => {
  const { app } = world;
  await addHost();
  const admitted = await enter({ name: 'Ada', admitted: 1 });
  const owner = (await app.http.post(`/api/rooms/${room}/join`, scene.owner.token)).body.participant;
  const waiting = await addGuest(app, room);
  // Who is a host by an account acts with the session, and not with the token of a visit.
  for (const { token } of [admitted, owner, waiting]) {
    expectError(await lock(app, room, token), 403, 'Forbidden');
    expectError(await decide(app, 'admit', room, waiting.id, token), 403, 'Forbidden');
    expectError(await list(app, room, token), 403, 'Forbidden');
  }
  const unknown = `lnp_${'A'.repeat(43)}`;
  expectError(await lock(app, room, unknown), 401, 'Unauthorized');
  expectError(await lock(app, room, host.token.replace('lnp_', 'lnj_')), 401, 'Unauthorized');
});

const others = Object.entries(rows).filter(
  ([name, { who, acceptsCredential }]) =>
    !ACTS.includes(name) && who !== 'provider' && (who !== 'anyone' || acceptsCredential),
);

describe.each(transports)('over %s', (_title, transport) => {
  beforeAll(addHost);

  test.each(others.filter(([name]) => isServed(name, transport)))(
    '%s takes no token of a participant as a credential',
    async (name, row) => {
      const call = { name, token: host.token, input: row.input(scene, scene.owner) };
      const content = row.content && { content: row.content(scene) };
      const headers = row.headers && { headers: row.headers };
      const { status } = await transport(world.app, { ...call, ...content, ...headers });
      expect(status).toBe(401);
    },
  );

  test.each(ACTS)('%s takes it', async (name) => {
    await addHost();
    const guest = await addGuest(world.app, room);
    const input = { name: room, ...(/admit|refuse|remove/.test(name) && { participantId: guest.id }) };
    expect((await transport(world.app, { name, token: host.token, input })).status).toBe(200);
  });
});
