/** How the REST paths read request bodies of every kind. No body causes a 500. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dumpTables } from '../support/dump.ts';
import type { Answer } from '../support/http.ts';
import { exchangeRequest } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

const JSON_TYPE = 'application/json';

function post(body: NonNullable<RequestInit['body']>, type = JSON_TYPE, path = `${team.path}/labels`): Promise<Answer> {
  return app.http.call('POST', path, { token: team.owner.token, body, headers: { 'content-type': type } });
}

describe('a body that is not JSON returns 400 and writes nothing', () => {
  test.each([
    ['truncated JSON', '{"name":"x"'],
    ['JSON followed by text', '{"name":"x"} x'],
    ['a trailing comma', '{"name":"x",}'],
    ['single quotes', "{'name':'x'}"],
    ['Infinity', '{"name":Infinity}'],
    ['NaN', '{"name":NaN}'],
    ['a comment', '{"name":"x"/**/}'],
    ['only spaces', '   '],
    ['a form', 'name=x'],
    ['a raw control character', '{"name":"a\u0001b"}'],
    ['__proto__ as a key', '{"name":"x","__proto__":{"polluted":1}}'],
    ['constructor.prototype as a key', '{"name":"x","constructor":{"prototype":{"polluted":1}}}'],
  ])('%s', async (_, text) => {
    const before = await dumpTables(app);
    const { status, body } = await post(text);
    const message = 'Request body must be valid JSON';
    expect([status, body.message, body.issues]).toEqual([400, message, [{ path: '', message }]]);
    expect(await dumpTables(app)).toEqual(before);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('JSON that ends 50,000 levels deep', async () => {
    expect((await post('['.repeat(50_000))).status).toBe(400);
  });

  test('bytes that are not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe, 0xc0]), Buffer.from('"}')]);
    expect((await post(bytes)).status).toBe(400);
  });

  test('JSON in UTF-16', async () => {
    expect((await post(Buffer.from('{"name":"x"}', 'utf16le'))).status).toBe(400);
  });
});

describe('JSON that is not an object returns 400', () => {
  test.each(['null', 'true', '5', '"x"', '[]', '[{"name":"x"}]'])('%s', async (text) => {
    const { status, body } = await post(text);
    expect([status, body.issues]).toEqual([400, [{ path: '', message: 'Request body must be a JSON object' }]]);
  });
});

describe('unusual JSON is accepted', () => {
  test('a byte order mark, a charset, spaces around it, and repeated keys, of which the last counts', async () => {
    for (const [text, type, name] of [
      ['\ufeff{"name":"Mark"}', JSON_TYPE, 'Mark'],
      ['{"name":"Charset"}', 'application/json; charset=utf-8', 'Charset'],
      ['{"name":"Capitals"}', 'Application/JSON', 'Capitals'],
      [' \n{"name":"Blanks"}\r\n', JSON_TYPE, 'Blanks'],
      ['{"name":"First","name":"Second"}', JSON_TYPE, 'Second'],
    ] as const) {
      const { status, body } = await post(text, type);
      expect([status, body.label?.name]).toEqual([200, name]);
    }
  });

  test('100 levels are ignored in an unknown field, and rejected where a string is expected', async () => {
    const deep = '['.repeat(99) + ']'.repeat(99);
    expect((await post(`{"name":"Shallow","deep":${deep}}`)).status).toBe(200);
    expect((await post(`{"name":${deep}}`)).body.message).toBe('name must be a string');
    const objects = `${'{"a":'.repeat(99)}1${'}'.repeat(99)}`;
    expect((await post(`{"name":"Shallow too","deep":${objects}}`)).status).toBe(200);
  });

  test('2,000 unknown keys are ignored', async () => {
    const keys = Array.from({ length: 2_000 }, (_, index) => `"k${index}":0`).join(',');
    expect((await post(`{"name":"Many keys",${keys}}`)).status).toBe(200);
  });

  test('a key may have the name of an object method', async () => {
    for (const key of ['toString', 'constructor', 'hasOwnProperty', 'valueOf'])
      expect((await post(JSON.stringify({ name: `Key ${key}`, [key]: 'x' }))).status).toBe(200);
    expect((await post(JSON.stringify({ toString: 'x' }))).body.message).toBe('Name is required');
  });
});

describe('a body over the limit', () => {
  test('returns 413 over both transports', async () => {
    const text = JSON.stringify({ name: 'x'.repeat(10_000_000) });
    for (const path of [`${team.path}/labels`, '/trpc/labels.create']) {
      const { status, body } = await post(text, JSON_TYPE, path);
      const { code, message } = path.startsWith('/trpc') ? body.error.data : body;
      expect([status, code, message]).toEqual([413, 'PAYLOAD_TOO_LARGE', 'Request body is too large']);
    }
  });

  test('returns 413 as soon as the Content-Length is read', async () => {
    const { status } = await exchangeRequest(app.url, {
      method: 'POST',
      target: `${team.path}/labels`,
      headers: {
        authorization: `Bearer ${team.owner.token}`,
        'content-type': JSON_TYPE,
        'content-length': '99999999999',
      },
      body: '{',
    });
    expect(status).toBe(413);
  });

  test('returns 401 to callers without a credential, before it is read', async () => {
    const { status } = await exchangeRequest(app.url, {
      method: 'POST',
      target: `${team.path}/labels`,
      headers: { 'content-type': JSON_TYPE, 'content-length': '99999999999' },
      body: '{',
    });
    expect(status).toBe(401);
  });

  test('is not decompressed: gzipped JSON returns 400', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'x'));
    const answer = await app.http.call('POST', `${team.path}/labels`, {
      token: team.owner.token,
      body: bomb,
      headers: { 'content-type': JSON_TYPE, 'content-encoding': 'gzip' },
    });
    expect(answer.status).toBe(400);
  });
});

describe('a body of another type', () => {
  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'text/json',
    'application/jsonx',
    'nonsense',
  ])('%s returns 415', async (type) => {
    const { status, body } = await post('{"name":"x"}', type);
    expect([status, body.code, body.message]).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'Content type must be application/json',
    ]);
  });

  test('a missing Content-Type returns 415', async () => {
    const body = '{"name":"x"}';
    const { status } = await exchangeRequest(app.url, {
      method: 'POST',
      target: `${team.path}/labels`,
      headers: { authorization: `Bearer ${team.owner.token}`, 'content-length': String(body.length) },
      body,
    });
    expect(status).toBe(415);
  });
});

describe('an empty body is the same as no body, whatever its type', () => {
  const types = [undefined, JSON_TYPE, 'text/plain', 'application/x-www-form-urlencoded'];
  const lengths: readonly (readonly [string, Record<string, string>, string])[] = [
    ['no length', {}, ''],
    ['length 0', { 'content-length': '0' }, ''],
    ['no chunk', { 'transfer-encoding': 'chunked' }, '0\r\n\r\n'],
  ];
  const cases = types.flatMap((type) => lengths.map((length) => [type, ...length] as const));
  // An invalid type matters only if the headers announce a body.
  const noTypes = ['nonsense', ''].flatMap((type) => lengths.slice(0, 2).map((length) => [type, ...length] as const));
  test.each([...cases, ...noTypes])('with type %s and %s', async (type, _, headers, body) => {
    const request = (method: string, target: string) =>
      exchangeRequest(app.url, {
        method,
        target,
        headers: {
          authorization: `Bearer ${team.owner.token}`,
          ...(type !== undefined && { 'content-type': type }),
          ...headers,
        },
        body,
      });
    expect((await request('POST', `${team.path}/invite`)).status).toBe(200);
    expect((await request('PATCH', '/api/auth/me')).status).toBe(200);
    const missing = await request('POST', `${team.path}/labels`);
    expect([missing.status, missing.body]).toEqual([400, expect.stringContaining('Name is required')]);
    expect((await request('DELETE', `${team.path}/invite`)).status).toBe(200);
  });
});

describe('a body that the operation does not take', () => {
  test('the body of a DELETE is ignored, even if it names another label', async () => {
    const [first, second] = [(await post('{"name":"Stays"}')).body.label, (await post('{"name":"Goes"}')).body.label];
    const answer = await app.http.call('DELETE', `${team.path}/labels/${second.id}`, {
      token: team.owner.token,
      json: { id: 1, labelId: first.id },
    });
    expect(answer.status).toBe(200);
    const { body } = await app.http.get(`${team.path}/labels`, team.owner.token);
    const names = body.labels.map(({ name }: { name: string }) => name);
    expect(names).toContain('Stays');
    expect(names).not.toContain('Goes');
  });
});

test('the workspace in the path wins over one in the body or query', async () => {
  const other = await addTeam(app, 'Other');
  const json = { name: 'Where', id: other.id, workspaceId: other.id, workspace_id: other.id };
  const { body } = await app.http.post(`${team.path}/labels?id=${other.id}`, team.owner.token, json);
  expect(body.label.workspace_id).toBe(team.id);
  const list = await app.http.get(`${team.path}/labels?id=${other.id}`, team.owner.token);
  expect(list.body.labels.length).toBeGreaterThan(0);
  expect((await app.http.get(`${other.path}/labels`, other.owner.token)).body.labels).toEqual([]);
});
