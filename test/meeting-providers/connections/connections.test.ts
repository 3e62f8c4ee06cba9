import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { concurrently, countStatuses } from '../../support/concurrently.ts';
import { dumpTables } from '../../support/dump.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { bodyOf, genericEvent, livekitEvent, signGeneric, signLivekit } from '../adapters/callbacks.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const livekit = { api_key: 'APIaVrrHMBeyNGD', api_secret: 'the API secret of LiveKit' };

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

function path(): string {
  return `${team.path}/connections`;
}

async function create(input: object) {
  return (await app.http.post(path(), team.owner.token, { name: 'Video', ...input })).body;
}

test('only the creation of a generic connection returns its secret, and its URL cannot be guessed', async () => {
  const { connection } = await create({ provider: 'generic' });
  expect(connection).toEqual({
    id: expect.any(Number),
    workspace_id: team.id,
    name: 'Video',
    provider: 'generic',
    ingest_url: expect.stringMatching(new RegExp(`^${app.url}/api/ingest/[A-Za-z0-9_-]{32}$`)),
    media_url: null,
    created_by: team.owner.id,
    created_at: expect.any(Number),
    updated_at: connection.created_at,
    last_event_at: null,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  });
  const { secret, ...shown } = connection;
  const list = await app.http.get(path(), team.owner.token);
  expect(list.body.connections).toContainEqual(shown);
  expect(JSON.stringify(list.body)).not.toContain(secret);
  const tables = JSON.stringify(await dumpTables(app));
  expect(tables).not.toContain(secret);
  expect(tables).not.toContain(Buffer.from(secret).toString('hex'));
});

test('credentials are never returned, and the database holds them only sealed', async () => {
  const { connections } = team.owner.client;
  const { connection } = await connections.create.mutate({
    id: team.id,
    name: 'LiveKit',
    provider: 'livekit',
    credentials: livekit,
  });
  expect(connection.secret).toBeNull();
  const shown = JSON.stringify([connection, await connections.list.query({ id: team.id })]);
  expect(shown).not.toContain(livekit.api_secret);
  expect(shown).not.toContain(livekit.api_key);
  expect(JSON.stringify(await dumpTables(app))).not.toContain(Buffer.from(livekit.api_secret).toString('hex'));
});

test('unknown fields of credentials are not stored', async () => {
  const { connection } = await create({ provider: 'livekit', credentials: { ...livekit, extra: 'x' } });
  const { sealedCredentials } = await app.services.db.meetingConnection.findUniqueOrThrow({
    where: { workspaceId_id: { workspaceId: team.id, id: connection.id } },
  });
  const opened = app.services.sealer.open(sealedCredentials, { workspaceId: team.id, purpose: 'meeting credentials' });
  expect(JSON.parse(opened)).toEqual({ current: livekit, previous: null });
});

test('only the owner lists, creates, rotates and deletes connections', async () => {
  const { connection } = await create({ provider: 'generic' });
  const before = await dumpTables(app);
  for (const { token } of [team.admin, team.member, team.outsider]) {
    for (const [method, at] of [
      ['GET', path()],
      ['POST', path()],
      ['POST', `${path()}/${connection.id}/rotate`],
      ['DELETE', `${path()}/${connection.id}`],
    ] as const) {
      const json = method === 'POST' ? { name: 'Mine', provider: 'generic' } : undefined;
      const { status, body } = await app.http.call(method, at, { token, json });
      expect([status, body.error]).toEqual([403, 'Forbidden']);
    }
  }
  expect(await dumpTables(app)).toEqual(before);
});

describe('rotating', () => {
  const post = (ingestUrl: string, secret: string, id: string) => {
    const body = bodyOf(genericEvent('participant.left', {}));
    const headers = signGeneric(body, secret, { id, at: app.clock.now() });
    return app.http.call('POST', new URL(ingestUrl).pathname, { body: new Uint8Array(body), headers });
  };

  test('the new secret is valid at once, the previous one for 24 hours, and the URL stays the same', async () => {
    const { connection: first } = await create({ provider: 'generic' });
    const rotate = async () => (await app.http.post(`${path()}/${first.id}/rotate`, team.owner.token)).body.connection;
    const second = await rotate();
    expect(second).toEqual({ ...first, secret: second.secret, updated_at: expect.any(Number) });
    expect(second.secret).not.toBe(first.secret);
    expect((await post(first.ingest_url, first.secret, 'a')).status).toBe(200);
    expect((await post(first.ingest_url, second.secret, 'b')).status).toBe(200);

    const third = await rotate();
    expect((await post(first.ingest_url, first.secret, 'c')).status).toBe(401);
    expect((await post(first.ingest_url, second.secret, 'd')).status).toBe(200);
    app.clock.advance(DAY_MS + 1000);
    expect((await post(first.ingest_url, second.secret, 'e')).status).toBe(401);
    expect((await post(first.ingest_url, third.secret, 'f')).status).toBe(200);
    app.clock.advance(-DAY_MS - 1000);
  });

  test('the credentials of LiveKit are replaced by those that are sent', async () => {
    const { connection } = await create({ provider: 'livekit', credentials: livekit });
    const next = { api_key: 'APInext', api_secret: 'the next secret of LiveKit' };
    const at = `${path()}/${connection.id}/rotate`;
    const refused = await app.http.post(at, team.owner.token);
    expect([refused.status, refused.body.error]).toEqual([400, 'credentials is required']);
    expect((await app.http.post(at, team.owner.token, { credentials: next })).status).toBe(200);
    const body = bodyOf(livekitEvent('room_started'));
    for (const { api_key, api_secret } of [livekit, next]) {
      const headers = await signLivekit(body, api_key, api_secret);
      const options = { body: new Uint8Array(body), headers };
      expect((await app.http.call('POST', new URL(connection.ingest_url).pathname, options)).status).toBe(200);
    }
  });

  test('after concurrent rotations the last secret and the one before it are valid', async () => {
    const { connection } = await create({ provider: 'generic' });
    const answers = await concurrently(8, () => app.http.post(`${path()}/${connection.id}/rotate`, team.owner.token));
    expect(countStatuses(answers)).toEqual({ 200: 8 });
    const secrets = answers.map(({ body }) => body.connection.secret);
    expect(new Set(secrets).size).toBe(8);
    const taken = await Promise.all(secrets.map((secret, index) => post(connection.ingest_url, secret, `m${index}`)));
    expect(countStatuses(taken)).toEqual({ 200: 2, 401: 6 });
  });
});

test('a deleted connection accepts no callbacks', async () => {
  const { connection } = await create({ provider: 'generic' });
  const body = bodyOf(genericEvent('participant.left', {}));
  const options = {
    body: new Uint8Array(body),
    headers: signGeneric(body, connection.secret, { at: app.clock.now() }),
  };
  const ingest = new URL(connection.ingest_url).pathname;
  expect((await app.http.call('POST', ingest, options)).status).toBe(200);
  const answers = await concurrently(4, () => app.http.delete(`${path()}/${connection.id}`, team.owner.token));
  expect(countStatuses(answers)).toEqual({ 200: 1, 404: 3 });
  const { status, body: refusal } = await app.http.call('POST', ingest, options);
  expect([status, refusal.error]).toEqual([404, 'Connection not found']);
  expect(await app.services.db.ingestEvent.count({ where: { connectionId: connection.id } })).toBe(0);
});

test('ingest_url begins with PUBLIC_URL', async () => {
  const other = await startTestApp({ settings: { publicUrl: 'https://lynxroom.example.com' } });
  try {
    const { owner, path: workspace } = await addTeam(other);
    const input = { name: 'Video', provider: 'generic' };
    const { body } = await other.http.post(`${workspace}/connections`, owner.token, input);
    expect(body.connection.ingest_url).toMatch(/^https:\/\/lynxroom\.example\.com\/api\/ingest\/[\w-]{32}$/);
  } finally {
    await other.close();
  }
});
