/** When and from where a key works, and keys that belong to a workspace. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { MINUTE_MS, toUnixSeconds } from '../../src/core/time.ts';
import { LAST_SECOND } from '../../src/core/validation.ts';
import { transports } from '../contract/transports.ts';
import { callFrom } from '../support/call-from.ts';
import { eventually } from '../support/eventually.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, PASSWORD, type Person, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ trustProxy: ['127.0.0.1'] });
});
beforeEach(async () => {
  team = await addTeam(app);
});
afterAll(() => app.close());

async function newKey(options: object = {}, by: Person = team.owner): Promise<{ id: number; key: string }> {
  const { status, body } = await app.http.post(`${team.path}/api-keys`, by.token, { name: 'Import', ...options });
  expect(status).toBe(200);
  return { id: body.apiKey.id, key: body.apiKey.full_key };
}

async function readKey(id: number) {
  const { body } = await app.http.get(`${team.path}/api-keys`, team.owner.token);
  return body.apiKeys.find((key: { id: number }) => key.id === id);
}

/** Calls over both transports, as if a proxy had forwarded the calls from the address. */
async function callsFrom(address: string, key: string): Promise<unknown[]> {
  const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': address };
  const rest = await callFrom(`${app.url}${team.path}/labels`, { headers });
  const input = encodeURIComponent(JSON.stringify({ id: team.id }));
  const trpc = await callFrom(`${app.url}/trpc/labels.list?input=${input}`, { headers });
  // `as`: the body of an error of tRPC.
  const { error } = trpc.body as { error?: { data: { code: string } } };
  // `as`: the body of an error of REST.
  const { code } = rest.body as { code?: string };
  return [rest.status, code, trpc.status, error?.data.code];
}

const accepted = [200, undefined, 200, undefined];
const refused = [403, 'NETWORK_NOT_ALLOWED', 403, 'NETWORK_NOT_ALLOWED'];

describe('expiry', () => {
  test('a key works until it expires, and is then rejected like an unknown one', async () => {
    const expiresAt = toUnixSeconds(app.clock.now()) + 60;
    const { id, key } = await newKey({ expires_at: expiresAt });
    expect(await readKey(id)).toMatchObject({ expires_at: expiresAt });
    for (const [, transport] of transports) {
      const call = { name: 'labels.list', token: key, input: { id: team.id } };
      expect((await transport(app, call)).status).toBe(200);
    }
    app.clock.advance(MINUTE_MS);
    for (const [, transport] of transports) {
      const call = { name: 'labels.list', token: key, input: { id: team.id } };
      expect(await transport(app, call)).toMatchObject({ status: 401, body: { message: 'Unauthorized' } });
    }
  });

  test('a time that is not in the future is refused, and names the field', async () => {
    const expires_at = toUnixSeconds(app.clock.now());
    const { status, body } = await app.http.post(`${team.path}/api-keys`, team.owner.token, { name: 'A', expires_at });
    expect([status, body.issues]).toEqual([400, [{ path: 'expires_at', message: 'expires_at must be in the future' }]]);
  });
});

describe('networks', () => {
  test.each([
    ['203.0.113.0/24', '203.0.113.200', '203.0.114.1'],
    ['203.0.113.7', '203.0.113.7', '203.0.113.8'],
    ['203.0.113.0/24', '::ffff:203.0.113.200', '::ffff:203.0.114.1'],
    ['2001:db8:1::/48', '2001:db8:1:2::3', '2001:db8:2::1'],
    ['2001:DB8::0:1', '2001:db8::1', '2001:db8::2'],
    ['2001:db8::/32', '2001:db8::1', '203.0.113.7'],
    ['0.0.0.0/0', '203.0.113.7', '2001:db8::1'],
  ])('a key for %s works from %s and not from %s', async (network, inside, outside) => {
    const { key } = await newKey({ allowed_networks: ['198.51.100.1', network] });
    expect(await callsFrom(inside, key)).toEqual(accepted);
    expect(await callsFrom(outside, key)).toEqual(refused);
  });

  test('the refusal names the address that the service sees, and is not recorded as a use', async () => {
    const { id, key } = await newKey({ allowed_networks: ['203.0.113.0/24'] });
    const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': '192.0.2.9' };
    const { body } = await callFrom(`${app.url}${team.path}/labels`, { headers });
    expect(body).toMatchObject({ message: 'This API key may not be used from the address 192.0.2.9' });
    expect(await readKey(id)).toMatchObject({ last_used_at: null, last_used_address: null });
  });

  test('a public operation refuses it too', async () => {
    const { key } = await newKey({ allowed_networks: ['203.0.113.0/24'] });
    await app.http.post('/api/dashboard/rooms', team.owner.token, { name: `open-${team.id}`, workspace_id: team.id });
    const { status, body } = await app.http.post(`/api/rooms/open-${team.id}/join`, key, {});
    expect([status, body.code]).toEqual([403, 'NETWORK_NOT_ALLOWED']);
  });

  test('networks are returned in canonical form', async () => {
    const sent = ['203.0.113.7/32', '2001:DB8:0:0::/48', '::1', '::/0'];
    const { id } = await newKey({ allowed_networks: sent });
    expect((await readKey(id)).allowed_networks).toEqual(['203.0.113.7', '2001:db8::/48', '::1', '::/0']);
  });
});

test('the last use is recorded with its address, at most once a minute', async () => {
  const { id, key } = await newKey();
  expect(await readKey(id)).toMatchObject({ last_used_at: null, last_used_address: null });
  await callsFrom('203.0.113.7', key);
  const first = await readKey(id);
  expect(first).toMatchObject({ last_used_address: '203.0.113.7' });
  await callsFrom('203.0.113.8', key);
  expect(await readKey(id)).toEqual(first);
  app.clock.advance(MINUTE_MS);
  await callsFrom('2001:db8::1', key);
  await eventually(async () => (await readKey(id)).last_used_address === '2001:db8::1');
});

test('expiry, networks, scopes and the role are read in one statement', async () => {
  const limits = { expires_at: LAST_SECOND, scopes: ['labels:read'], allowed_networks: ['127.0.0.0/8'] };
  const keys = [await newKey(), await newKey(limits), await newKey({ ...limits, belongs_to: 'workspace' })];
  for (const { key } of keys) {
    // The first use is written.
    await app.http.get(`${team.path}/labels`, key);
    const sent: string[] = [];
    // The driver's own method sees everything that reaches PostgreSQL.
    const query = vi.spyOn(pg.Client.prototype, 'query');
    try {
      expect((await app.http.get(`${team.path}/labels`, key)).status).toBe(200);
      sent.push(...query.mock.calls.map(([first]) => JSON.stringify(first)));
    } finally {
      query.mockRestore();
    }
    expect(sent.filter((text) => /api_keys|from labels/.test(text))).toHaveLength(2);
  }
});

describe('a key of the workspace', () => {
  const ofWorkspace = { belongs_to: 'workspace' };

  test('remains when its creator leaves, and passes to the owner; a key of the creator ends', async () => {
    const { id, key } = await newKey(ofWorkspace, team.admin);
    const personal = await newKey({}, team.admin);
    expect(await readKey(id)).toMatchObject({ belongs_to: 'workspace', created_by: team.admin.id });
    await app.http.delete(`${team.path}/members/${team.admin.id}`, team.admin.token);
    expect(await callsFrom('203.0.113.7', key)).toEqual(accepted);
    expect((await callsFrom('203.0.113.7', personal.key))[0]).toBe(401);
    expect(await readKey(id)).toMatchObject({ is_active: 1, created_by: team.owner.id });
  });

  test("remains when its creator's account is deleted", async () => {
    const { id, key } = await newKey(ofWorkspace, team.admin);
    const deleted = await app.http.call('DELETE', '/api/auth/me', {
      token: team.admin.token,
      json: { password: PASSWORD },
    });
    expect(deleted.status).toBe(200);
    expect(await callsFrom('203.0.113.7', key)).toEqual(accepted);
    expect(await readKey(id)).toMatchObject({ created_by: team.owner.id });
  });

  test('has the role admin whatever becomes of its creator, and never that of an owner', async () => {
    const { key } = await newKey(ofWorkspace, team.admin);
    await app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role: 'member' });
    expect((await app.http.post(`${team.path}/labels`, key, { name: 'By key' })).status).toBe(200);
    expect((await app.http.get(`${team.path}/retention`, key)).status).toBe(403);
    expect((await app.http.patch(team.path, key, { name: 'Renamed' })).status).toBe(403);
    const ofOwner = await newKey(ofWorkspace);
    expect((await app.http.get(`${team.path}/retention`, ofOwner.key)).status).toBe(403);
  });

  test('makes what belongs to the owner, who can change', async () => {
    const { key } = await newKey(ofWorkspace, team.admin);
    const { item } = (await upload(app, team.path, key)).body;
    expect(item).toMatchObject({ uploaded_by: team.owner.id });
    await app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role: 'owner' });
    const { room } = (await app.http.post('/api/dashboard/rooms', key, {})).body;
    expect(room).toMatchObject({ workspace_id: team.id, user_id: team.admin.id });
    expect((await app.http.post(`${team.path}/labels`, key, { name: 'Later' })).body.label).toMatchObject({
      created_by: team.admin.id,
    });
  });

  test('repeats its answer to a request although the workspace has another owner now', async () => {
    const { key } = await newKey(ofWorkspace);
    const headers = { 'idempotency-key': 'by-the-workspace' };
    const create = () => app.http.call('POST', '/api/dashboard/rooms', { token: key, headers, json: {} });
    const first = await create();
    await app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role: 'owner' });
    expect((await create()).body).toEqual(first.body);
  });

  test('ends with the workspace, and when it is deleted', async () => {
    const first = await newKey(ofWorkspace);
    await app.http.delete(`${team.path}/api-keys/${first.id}`, team.owner.token);
    expect((await callsFrom('203.0.113.7', first.key))[0]).toBe(401);
    const second = await newKey(ofWorkspace);
    await app.http.delete(team.path, team.owner.token);
    expect((await callsFrom('203.0.113.7', second.key))[0]).toBe(401);
  });

  test('is limited together with the keys of its workspace, and not with its owner', async () => {
    const limited = await startTestApp({ limits: { perUser: 20 } });
    try {
      const { path, owner, admin } = await addTeam(limited);
      const keys = await Promise.all(
        [owner, admin].map(
          async ({ token }) =>
            (await limited.http.post(`${path}/api-keys`, token, { name: 'A', ...ofWorkspace })).body.apiKey.full_key,
        ),
      );
      for (let calls = 0; calls < 10; calls += 1)
        for (const key of keys) expect((await limited.http.get(`${path}/labels`, key)).status).toBe(200);
      for (const key of keys) expect((await limited.http.get(`${path}/labels`, key)).status).toBe(429);
      expect((await limited.http.get(`${path}/labels`, owner.token)).status).toBe(200);
    } finally {
      await limited.close();
    }
  });
});
