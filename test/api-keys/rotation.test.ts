/** Rotating a key: the new one works at once, the previous one until the overlap ends. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { HOUR_MS, toUnixSeconds } from '../../src/core/time.ts';
import { transports } from '../contract/transports.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { dumpTables } from '../support/dump.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Person, type Team } from '../support/world.ts';

const NOON = new Date('2026-06-15T12:00:00Z');

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: NOON });
});
beforeEach(async () => {
  team = await addTeam(app);
});
afterAll(() => app.close());

type Key = { id: number; key: string };

async function newKey(options: object = {}, by: Person = team.owner): Promise<Key> {
  const { body } = await app.http.post(`${team.path}/api-keys`, by.token, { name: 'Import', ...options });
  return { id: body.apiKey.id, key: body.apiKey.full_key };
}

function rotate({ id }: Key, options: object = {}, by: Person = team.owner) {
  return app.http.post(`${team.path}/api-keys/${id}/rotate`, by.token, options);
}

async function isAccepted(key: string): Promise<boolean> {
  const statuses = [];
  for (const [, transport] of transports)
    statuses.push((await transport(app, { name: 'labels.list', token: key, input: { id: team.id } })).status);
  expect(new Set(statuses).size).toBe(1);
  return statuses[0] === 200;
}

async function readKey({ id }: Key) {
  const { body } = await app.http.get(`${team.path}/api-keys`, team.owner.token);
  return body.apiKeys.find((key: { id: number }) => key.id === id);
}

test('both keys work during the overlap, and then only the new one', async () => {
  const old = await newKey({ scopes: ['read'] });
  const { status, body } = await rotate(old, { overlap_hours: 2 });
  expect(status).toBe(200);
  const { full_key: key, ...shown } = body.apiKey;
  expect(shown).toMatchObject({
    id: old.id,
    scopes: ['read'],
    key_prefix: key.slice(0, 8),
    rotated_at: toUnixSeconds(app.clock.now()),
    last_used_at: null,
    previous_key: {
      key_prefix: old.key.slice(0, 8),
      expires_at: toUnixSeconds(app.clock.now()) + 7200,
      last_used_at: null,
    },
  });
  expect(await readKey(old)).toEqual(shown);
  expect(JSON.stringify(await dumpTables(app))).not.toContain(key.slice(8));
  expect([await isAccepted(old.key), await isAccepted(key)]).toEqual([true, true]);
  app.clock.advance(2 * HOUR_MS);
  expect([await isAccepted(old.key), await isAccepted(key)]).toEqual([false, true]);
});

test('the list says which of the two keys is used', async () => {
  const old = await newKey();
  const { full_key: key } = (await rotate(old)).body.apiKey;
  await isAccepted(old.key);
  const now = toUnixSeconds(app.clock.now());
  expect(await readKey(old)).toMatchObject({
    last_used_at: null,
    previous_key: { last_used_at: now, last_used_address: '127.0.0.1' },
  });
  await isAccepted(key);
  expect(await readKey(old)).toMatchObject({ last_used_at: now, previous_key: { last_used_at: now } });
});

test('without an overlap, the previous key ends at once', async () => {
  const old = await newKey();
  const { apiKey } = (await rotate(old, { overlap_hours: 0 })).body;
  expect(apiKey.previous_key).toBeNull();
  expect([await isAccepted(old.key), await isAccepted(apiKey.full_key)]).toEqual([false, true]);
});

test('rotating again ends the key before the previous one', async () => {
  const old = await newKey();
  const second = (await rotate(old)).body.apiKey.full_key;
  const third = (await rotate(old)).body.apiKey.full_key;
  expect([await isAccepted(old.key), await isAccepted(second), await isAccepted(third)]).toEqual([false, true, true]);
});

test('deactivating, revoking and deleting the key ends both', async () => {
  const old = await newKey();
  const key = (await rotate(old)).body.apiKey.full_key;
  const path = `${team.path}/api-keys/${old.id}`;
  await app.http.patch(path, team.owner.token, { is_active: 0 });
  expect([await isAccepted(old.key), await isAccepted(key)]).toEqual([false, false]);
  await app.http.patch(path, team.owner.token, { is_active: 1 });
  expect([await isAccepted(old.key), await isAccepted(key)]).toEqual([true, true]);
  await app.http.delete(path, team.owner.token);
  expect([await isAccepted(old.key), await isAccepted(key)]).toEqual([false, false]);
});

test('the previous key does not work longer than it would have', async () => {
  const expires_at = toUnixSeconds(app.clock.now()) + 3600;
  const old = await newKey({ expires_at });
  const { apiKey } = (await rotate(old, { expires_at: expires_at + 7200 })).body;
  expect(apiKey).toMatchObject({ expires_at: expires_at + 7200, previous_key: { expires_at } });
  app.clock.advance(HOUR_MS);
  expect([await isAccepted(old.key), await isAccepted(apiKey.full_key)]).toEqual([false, true]);
});

test('an expired key is only rotated with a new expiry, and its previous key does not work again', async () => {
  const old = await newKey({ expires_at: toUnixSeconds(app.clock.now()) + 60 });
  app.clock.advance(HOUR_MS);
  const { status, body } = await rotate(old);
  expect([status, body.issues?.[0].path]).toEqual([400, 'expires_at']);
  const { apiKey } = (await rotate(old, { expires_at: toUnixSeconds(app.clock.now()) + 60 })).body;
  expect([await isAccepted(old.key), await isAccepted(apiKey.full_key)]).toEqual([false, true]);
});

test('nobody obtains a key that acts for somebody else', async () => {
  const ofOwner = await newKey();
  const ofAdmin = await newKey({}, team.admin);
  const ofWorkspace = await newKey({ belongs_to: 'workspace' });
  const message = 'Only the user for whom the API key acts can rotate it';
  expect(await rotate(ofOwner, {}, team.admin)).toMatchObject({ status: 403, body: { message } });
  expect(await rotate(ofAdmin, {}, team.owner)).toMatchObject({ status: 403, body: { message } });
  expect((await rotate(ofAdmin, {}, team.admin)).status).toBe(200);
  expect((await rotate(ofWorkspace, {}, team.admin)).status).toBe(200);
});

test('a revoked key is not rotated', async () => {
  const old = await newKey();
  await app.services.db.apiKey.updateMany({ where: { id: old.id }, data: { isActive: false, revokedAt: NOON } });
  const message = 'This API key was revoked: create a new one';
  expect(await rotate(old)).toMatchObject({ status: 409, body: { message } });
});

test('concurrent rotations each return a key, and two of them work', async () => {
  const old = await newKey();
  const answers = await concurrently(8, () => rotate(old));
  expect(countStatuses(answers)).toEqual({ 200: 8 });
  const keys = [old.key, ...answers.map(({ body }) => body.apiKey.full_key)];
  expect(new Set(keys).size).toBe(9);
  const accepted = await Promise.all(keys.map(isAccepted));
  expect(accepted.filter(Boolean)).toHaveLength(2);
});

test('a retry with an idempotency key and the new key is the same request', async () => {
  const old = await newKey();
  const create = (token: string) =>
    app.http.call('POST', '/api/dashboard/rooms', { token, headers: { 'idempotency-key': 'retried' }, json: {} });
  const first = await create(old.key);
  const { full_key: key } = (await rotate(old)).body.apiKey;
  expect((await create(key)).body).toEqual(first.body);
});

test('the typed client rotates keys and creates limited ones', async () => {
  const { apiKeys } = team.owner.client;
  const scopes = ['library:read' as const];
  const { apiKey } = await apiKeys.create.mutate({ id: team.id, name: 'Typed', scopes, belongs_to: 'workspace' });
  const rotated = await apiKeys.rotate.mutate({ id: team.id, keyId: apiKey.id, overlap_hours: 1 });
  expect(rotated.apiKey).toMatchObject({ id: apiKey.id, scopes, previous_key: { key_prefix: apiKey.key_prefix } });
  const client = createClient({ url: app.url, token: rotated.apiKey.full_key });
  await expect(client.labels.list.query({ id: team.id })).rejects.toMatchObject({ status: 403, code: 'SCOPE_MISSING' });
});
