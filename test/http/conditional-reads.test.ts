/** `ETag` and `If-None-Match`. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Download } from '../../src/features/library/schemas.ts';
import { appRouter } from '../../src/routers/index.ts';
import { proceduresOf } from '../../src/trpc/call-procedure.ts';
import { listOperations } from '../../src/trpc/operations.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
let item: number;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  const { body } = await app.http.post(`${team.path}/contacts`, team.owner.token, {
    name: 'A',
    email: 'a@example.com',
  });
  item = body.contact.id;
});
afterAll(() => app.close());

function read(path: string, { token = team.member.token, tag = '', method = 'GET' } = {}) {
  return app.http.call(method, path, { token, ...(tag !== '' && { headers: { 'if-none-match': tag } }) });
}

describe.each([
  ['one resource', () => `${team.path}/contacts/${item}`],
  ['a list', () => `${team.path}/labels`],
  ['tRPC', () => `/trpc/labels.list?input=${encodeURIComponent(JSON.stringify({ id: team.id }))}`],
  ['the document', () => '/openapi.json'],
  ['the document as 3.0', () => '/openapi-3.0.json'],
  ['the index for models', () => '/llms.txt'],
  ['the Markdown of a guide', () => '/docs/guides/rooms.md'],
])('%s', (_, path) => {
  test('has a tag, and returns 304 to a caller that has it', async () => {
    const first = await read(path());
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^W\/"[\w-]{22}"$/);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    for (const known of [tag, tag.slice(2), `"x", ${tag}`, '*']) {
      const { status, headers, body } = await read(path(), { tag: known });
      expect([status, body, headers.get('etag')]).toEqual([304, '', tag]);
      expect(headers.get('vary')).toBe(first.headers.get('vary'));
      expect(headers.get('cache-control')).toBe('private, no-cache');
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
    expect((await read(path(), { tag: 'W/"x"' })).status).toBe(200);
  });
});

test.each([
  ['one resource', () => `${team.path}/contacts/${item}`],
  ['a list', () => `${team.path}/labels`],
  ['the document', () => '/openapi.json'],
  ['a docs page', () => '/docs/assets/guide.css'],
  ['the index for models', () => '/llms.txt'],
  ['the Markdown of a guide', () => '/docs/guides/rooms.md'],
  ['health', () => '/health'],
])('HEAD of %s has the tag of GET, and returns 304 to a caller that has it', async (_, path) => {
  // `fetch` sends Accept-Encoding, so every response has a tag.
  const tag = (await read(path())).headers.get('etag') ?? '';
  const head = await read(path(), { method: 'HEAD' });
  expect([tag === '', head.status, head.headers.get('etag')]).toEqual([false, 200, tag]);
  for (const known of [tag, '*'])
    for (const method of ['HEAD', 'GET']) {
      const { status, headers, body } = await read(path(), { method, tag: known });
      expect([method, status, body, headers.get('etag')]).toEqual([method, 304, '', tag]);
      for (const name of ['content-type', 'content-encoding', 'content-length'])
        expect([name, headers.get(name)]).toEqual([name, null]);
    }
});

test.each([
  ['CSV', () => `${team.path}/contacts.csv`],
  ['tRPC', () => `/trpc/labels.list?input=${encodeURIComponent(JSON.stringify({ id: team.id }))}`],
])('HEAD of %s has no tag to compare', async (_, path) => {
  const { status, headers } = await read(path(), { token: team.owner.token, method: 'HEAD', tag: '*' });
  expect([status < 300, headers.get('etag')]).toEqual([true, null]);
});

test('a change gives another tag', async () => {
  const path = `${team.path}/labels`;
  const tag = (await read(path)).headers.get('etag') ?? '';
  await app.http.post(path, team.owner.token, { name: 'New' });
  const { status, headers, body } = await read(path, { tag });
  expect([status, body.labels.map(({ name }: { name: string }) => name)]).toEqual([200, ['New']]);
  expect(headers.get('etag')).not.toBe(tag);
});

test('a caller who may not read gets the error, whatever tag they send', async () => {
  const path = `${team.path}/contacts/${item}`;
  const tag = (await read(path)).headers.get('etag') ?? '';
  for (const known of [tag, '*']) {
    expect((await app.http.call('GET', path, { headers: { 'if-none-match': known } })).status).toBe(401);
    expect((await read(path, { token: team.outsider.token, tag: known })).status).toBe(403);
    expect((await read(`${team.path}/contacts/2147483647`, { tag: known })).status).toBe(404);
  }
});

test('writes, redirects and errors have no tag, and writes may not be stored', async () => {
  const written = await app.http.post(`${team.path}/labels`, team.owner.token, { name: 'Other' });
  expect([written.headers.get('etag'), written.headers.get('cache-control')]).toEqual([null, 'no-store']);
  expect((await read('/api/workspaces/2147483647', { tag: '*' })).headers.get('etag')).toBeNull();
  const missing = await app.http.call('POST', `${team.path}/labels`, {
    token: team.owner.token,
    json: { name: 'Third' },
    headers: { 'if-none-match': '*' },
  });
  expect(missing.status).toBe(200);
});

/** Fields that give their reader access. `previous_key` only describes a key. */
const SECRET_FIELD = /^(?!previous_key$)(?:.*_)?(?:token|secret|key|password|ingest_url|invite_url|cancel_url)$/;

test('reads that return a signed URL or a secret, and no others, are not stored', () => {
  // Every procedure of the router but subscriptions declares its output. tRPC hides it from the types.
  const outputs = proceduresOf(appRouter) as unknown as [string, { _def: { type: string; output: z.ZodType } }][];
  const secret = outputs.flatMap(([name, { _def: definition }]) => {
    if (definition.type === 'subscription') return [];
    const schema = JSON.stringify(z.toJSONSchema(definition.output, { unrepresentable: 'any' }));
    const fields = [...schema.matchAll(/"([a-z_]+)":\{/g)].map(([, field = '']) => field);
    return definition.output === Download || fields.some((field) => SECRET_FIELD.test(field)) ? [name] : [];
  });
  const reads = listOperations(appRouter).filter(({ method }) => method === 'GET');
  const found = reads.filter(({ name }) => secret.includes(name)).map(({ name }) => name);
  expect(found.sort()).toEqual([
    'connections.list',
    'library.download',
    'library.file',
    'recordings.download',
    'recordings.downloadInWorkspace',
  ]);
  const notStored = listOperations(appRouter).filter(({ noStore }) => noStore);
  expect(notStored.map(({ name }) => name).sort()).toEqual(found);
});

describe('reads that return a signed URL or a secret', () => {
  const asked = { 'accept-encoding': 'br, gzip', accept: 'application/json', 'if-none-match': '*' };
  const inputOf = (...inputs: object[]): string => encodeURIComponent(JSON.stringify({ ...inputs }));
  let uploaded: number;
  beforeAll(async () => {
    uploaded = (await upload(app, team.path, team.owner.token)).body.item.id;
    // More than 1 kB, which other reads compress.
    for (let index = 0; index < 8; index += 1)
      await app.http.post(`${team.path}/connections`, team.owner.token, {
        name: 'Connection '.repeat(8),
        provider: 'generic',
      });
  });

  test.each([
    ['REST', () => `${team.path}/library/${uploaded}/download`],
    ['REST', () => `${team.path}/connections`],
    ['tRPC', () => `/trpc/library.download?batch=1&input=${inputOf({ id: team.id, itemId: uploaded })}`],
    ['tRPC', () => `/trpc/connections.list?batch=1&input=${inputOf({ id: team.id })}`],
    ['tRPC', () => `/trpc/labels.list,connections.list?batch=1&input=${inputOf({ id: team.id }, { id: team.id })}`],
    ['tRPC', () => `/trpc/connections.list,labels.list?batch=1&input=${inputOf({ id: team.id }, { id: team.id })}`],
  ])('%s are not stored, tagged or compressed', async (_, path) => {
    for (const method of ['GET', ...(path().startsWith('/trpc/') ? [] : ['HEAD'])]) {
      const { status, headers } = await app.http.call(method, path(), { token: team.owner.token, headers: asked });
      expect([method, status, headers.get('cache-control')]).toEqual([method, 200, 'private, no-store']);
      expect([headers.get('etag'), headers.get('content-encoding')]).toEqual([null, null]);
    }
  });
});
