/** What a body may cost, whatever its transport: its size, its structure, and the memory of all bodies together. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { collectGarbage } from '../../src/core/collect-garbage.ts';
import { eventually } from '../support/eventually.ts';
import type { Answer } from '../support/http.ts';
import { resolveTestHost, startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const KIB = 1024;
const LOGIN = '/api/auth/login';
const limits = { signInPerAddress: 3, perUser: 10, publicPerAddress: 1 };
/** With ten times the limit of misses, a network is refused everything. */
const MAX_MISSES = 10;
/** The host of a webhook, which is resolved while the call is carried out. */
const HOST = 'receiver.example.com';

let onResolve = async (): Promise<void> => {};

let isHeapFull = false;
let app: TestApp;
/** Shares the database of `app`, and can afford only a few bodies. */
let small: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({
    async resolveHost(host) {
      await onResolve();
      return resolveTestHost(host);
    },
  });
  team = await addTeam(app);
  small = await startTestApp({
    sharedDatabase: app,
    trustProxy: ['127.0.0.1'],
    limits,
    // Memory for 20,000 bytes. One network may use half of it.
    bodyBounds: { totalBytes: 20_000 * 24, maxIncomplete: 3, isHeapFull: () => isHeapFull },
  });
});
afterAll(async () => {
  await small.close();
  await app.close();
});

/** JSON of `bytes` bytes, most of which are in a field that the operation does not know. */
function padded(bytes: number, input: object): string {
  const text = JSON.stringify({ ...input, padding: '' });
  return text.replace('"padding":""', `"padding":"${'x'.repeat(bytes - text.length)}"`);
}

/** JSON with `count` values, as the service counts them. */
function values(count: number, input: object): string {
  const text = JSON.stringify({ ...input, unknown: [0] });
  return text.replace('[0]', `[${'0,'.repeat(count - (text.match(/[,[{]/g)?.length ?? 0))}0]`);
}

function nested(levels: number, input: object): string {
  return JSON.stringify({ ...input, unknown: 0 }).replace(
    ':0}',
    `:${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`,
  );
}

/** The message of an error, or of the first call of a batch; empty for a success. */
function messageOf({ body }: Answer): string {
  const [first] = [body].flat();
  return (first.error?.data ?? first).message ?? '';
}

type Sender = (text: string, headers?: Record<string, string>) => Promise<Answer>;

/** Sends to `path` with a Content-Length. `isChunked` sends the body without one. */
function sendTo(path: string, token?: string, isChunked = false): Sender {
  return (text, headers = {}) =>
    app.http.call('POST', path, {
      token,
      body: isChunked ? new Blob([text]).stream() : text,
      headers: { 'content-type': 'application/json', ...headers },
    });
}

let names = 0;
function newLabel(): { id: number; name: string } {
  names += 1;
  return { id: team.id, name: `Label ${names}` };
}

type Case = { send(): Sender; max: number; input(): object };

const credentials = { email: 'nobody@example.com', password: 'wrong password' };
const owner = (): string => team.owner.token;
const batchOf = (count: number): string => Array(count).fill('labels.create').join(',');

const cases: Record<string, Case> = {
  'a public operation': { send: () => sendTo(LOGIN), max: 8 * KIB, input: () => credentials },
  'a public operation over tRPC': { send: () => sendTo('/trpc/auth.login'), max: 8 * KIB, input: () => credentials },
  'an operation': { send: () => sendTo(`${team.path}/labels`, owner()), max: 64 * KIB, input: newLabel },
  'an operation over tRPC': { send: () => sendTo('/trpc/labels.create', owner()), max: 64 * KIB, input: newLabel },
  'an operation in chunks': {
    send: () => sendTo(`${team.path}/labels`, owner(), true),
    max: 64 * KIB,
    input: newLabel,
  },
  'an operation over tRPC in chunks': {
    send: () => sendTo('/trpc/labels.create', owner(), true),
    max: 64 * KIB,
    input: newLabel,
  },
  'an operation with a limit of its own': {
    send: () => sendTo('/api/auth/passkeys/sign-in'),
    max: 24 * KIB,
    input: () => ({ response: {} }),
  },
  'a batch of 2 calls': {
    send: () => sendTo(`/trpc/${batchOf(2)}?batch=1`, owner()),
    max: 128 * KIB,
    input: () => ({ 0: newLabel(), 1: newLabel() }),
  },
  'a batch of 50 calls': {
    send: () => sendTo(`/trpc/${batchOf(50)}?batch=1`, owner()),
    max: 256 * KIB,
    input: () => Object.fromEntries(Array.from({ length: 50 }, (_, index) => [index, newLabel()])),
  },
};

describe.each(Object.entries(cases))('the body of %s', (_, { send, max, input }) => {
  test('may have its full size, and not a byte more', async () => {
    const accepted = await send()(padded(max, input()));
    const refused = await send()(padded(max + 1, input()));
    expect([200, 400, 401]).toContain(accepted.status);
    expect(messageOf(accepted)).not.toBe('Request body is too large');
    expect([refused.status, messageOf(refused)]).toEqual([413, 'Request body is too large']);
  });

  test('may have one value for every 32 bytes of this size, and 100 levels', async () => {
    for (const text of [values(max / 32, input()), nested(100, input())])
      expect(messageOf(await send()(text))).not.toMatch(/^Request body must/);
    for (const [text, message] of [
      [values(max / 32 + 1, input()), `Request body must have at most ${max / 32} values`],
      [nested(101, input()), 'Request body must not be nested more than 100 levels deep'],
    ] as const) {
      const answer = await send()(text);
      expect([answer.status, messageOf(answer)]).toEqual([400, message]);
    }
  });
});

test.each(['/api/workspaces', '/trpc/workspaces.create'])(
  'a body with too many values is no input of an idempotency key either: %s',
  async (path) => {
    const send = sendTo(path, owner());
    const key = { 'idempotency-key': `too many values ${path}`.replaceAll(' ', '-') };
    expect((await send(values(2_049, { name: 'Many' }), key)).status).toBe(400);
    expect((await send(JSON.stringify({ name: 'Few' }), key)).status).toBe(200);
  },
);

describe('once an input has been validated', () => {
  const { parse } = JSON;
  let input: WeakRef<object> | undefined;
  beforeAll(() => {
    JSON.parse = (text: string, ...rest) => {
      const value = parse(text, ...rest);
      if (String(text).includes(HOST)) input = new WeakRef(value);
      return value;
    };
  });
  afterAll(() => {
    JSON.parse = parse;
  });

  test.each([
    ['over REST', () => `${team.path}/webhooks`, (text: string) => text],
    ['over tRPC', () => '/trpc/webhooks.create', (text: string) => text],
    ['in a batch', () => '/trpc/webhooks.create?batch=1', (text: string) => `{"0":${text}}`],
  ])('nothing refers to it %s, even if the call has an idempotency key', async (name, path, toBody) => {
    const leftOver: unknown[] = [];
    onResolve = async () => {
      // A WeakRef keeps its target until the current task ends.
      await sleep(0);
      collectGarbage({ type: 'major' });
      leftOver.push(input?.deref());
    };
    const webhook = { name, url: `https://${HOST}/`, events: ['room.created'] };
    const text = padded(10_000, { id: team.id, ...webhook });
    const answer = await sendTo(path(), owner())(toBody(text), { 'idempotency-key': name.replaceAll(' ', '-') });
    expect([answer.status, leftOver]).toEqual([200, [undefined]]);
  });
});

/** A connection to `small` that sends a part of a body, or none of it. */
type Started = { socket: Socket; status: Promise<number>; text(): string };

const started: Socket[] = [];
afterEach(async () => {
  isHeapFull = false;
  for (const socket of started.splice(0)) {
    socket.destroy();
    if (!socket.closed) await once(socket, 'close');
  }
});

let networks = 0;
/** An address that has not called yet. */
function newAddress(): string {
  networks += 1;
  return `198.51.100.${networks}`;
}

type Start = { length: number; sent?: string; from?: string; token?: string | undefined; path?: string };

/** Announces a body of `length` bytes, and sends `sent`. */
function start({ length, sent = '', from = newAddress(), token, path = LOGIN }: Start): Started {
  const { hostname, port } = new URL(small.url);
  const socket = connect({ host: hostname, port: Number(port) });
  started.push(socket);
  let text = '';
  const status = new Promise<number>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('Closed without a response')));
    socket.on('data', (chunk) => {
      text += chunk.toString();
      const found = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      if (found !== undefined && text.includes('\r\n\r\n')) resolve(Number(found));
    });
  });
  // Some tests only need the connection.
  status.catch(() => {});
  const authorization = token === undefined ? '' : `authorization: Bearer ${token}\r\n`;
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${from}\r\n${authorization}` +
      `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n${sent}`,
  );
  return { socket, status, text: () => text };
}

const LOGIN_BODY = JSON.stringify(credentials);

/** Uses up the limits of the network of `from`. */
async function useUp(from: string): Promise<void> {
  const headers = { 'x-forwarded-for': from };
  for (let call = 0; call < limits.signInPerAddress; call += 1)
    await small.http.call('POST', LOGIN, { json: credentials, headers });
  for (let call = 0; call < limits.perUser; call += 1) await small.http.call('GET', '/api/auth/me', { headers });
  for (let call = 0; call < MAX_MISSES; call += 1)
    await small.http.call('GET', `/api/rooms/unknown-${call}`, { headers });
}

describe('before a body is read', () => {
  test.each([
    LOGIN,
    '/api/auth/register',
    '/api/auth/forgot-password',
    '/api/rooms/some-room/join',
    '/trpc/auth.login',
    '/trpc/auth.login,auth.login?batch=1',
    '/trpc/participants.join',
    '/trpc/labels.create',
    '/api/workspaces',
  ])('a network that has used up its limits gets 429 from %s', async (path) => {
    const from = newAddress();
    await useUp(from);
    const { status, text } = start({ path, from, length: 100 });
    expect(await status).toBe(429);
    expect(text()).toMatch(/\r\nretry-after: \d+\r\n/);
  });

  test('the body of an unknown caller is not read over tRPC if it is large', async () => {
    const path = '/trpc/labels.create';
    for (const token of [undefined, `lns_${'A'.repeat(43)}`])
      expect(await start({ path, token, length: 60_000 }).status).toBe(401);
    const text = padded(9_000, newLabel());
    expect(await start({ path, token: owner(), length: text.length, sent: text }).status).toBe(200);
  });

  test('an unknown path returns 404, and a wrong method 405', async () => {
    expect(await start({ path: '/nowhere', length: 60_000 }).status).toBe(404);
    expect(await start({ path: '/health', length: 60_000 }).status).toBe(405);
  });

  test.each([LOGIN, '/trpc/auth.login'])('a body that is too large returns 413 from %s', async (path) => {
    expect(await start({ path, length: 8 * KIB + 1 }).status).toBe(413);
  });

  test('a client that sends a small rejected body nevertheless can go on with its connection', async () => {
    const next = 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n';
    const { text } = start({ length: 60_000, sent: 'x'.repeat(60_000) + next });
    const statuses = (): string[] => [...text().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => String(status));
    await eventually(async () => statuses().length === 2);
    expect(statuses()).toEqual(['413', '200']);
  });
});

describe('bodies of one network', () => {
  test('that are incomplete are limited in number, and others are not affected', async () => {
    const from = newAddress();
    const bodies = Array.from({ length: 4 }, () => start({ from, length: LOGIN_BODY.length }));
    const first = await Promise.race(bodies.map(async (body) => ({ body, status: await body.status })));
    expect(first.status).toBe(429);
    expect(first.body.text()).toMatch(/\r\nretry-after: 1\r\n/);
    expect(await start({ length: LOGIN_BODY.length, sent: LOGIN_BODY }).status).toBe(401);
    const admitted = bodies.filter((body) => body !== first.body);
    for (const { socket } of admitted) socket.write(LOGIN_BODY);
    expect(await Promise.all(admitted.map(({ status }) => status))).toEqual([401, 401, 401]);
  });

  test('may take up as much memory as is left for others, until they have their responses', async () => {
    const from = newAddress();
    const bodies = Array.from({ length: 3 }, () => start({ from, length: 4_000 }));
    const { body, status } = await Promise.race(bodies.map(async (one) => ({ body: one, status: await one.status })));
    expect(status).toBe(429);
    const large = start({ length: 8_000 });
    expect(await large.status).toBe(503);
    expect(large.text()).toMatch(/\r\nretry-after: 1\r\n/);
    expect(await start({ length: LOGIN_BODY.length, sent: LOGIN_BODY }).status).toBe(401);
    for (const { socket } of bodies) if (socket !== body.socket) socket.destroy();
    const text = padded(8_000, credentials);
    await eventually(async () => (await start({ length: text.length, sent: text }).status) === 401);
  });
});

test('while the heap is almost full, new bodies get 503, and everything else is served', async () => {
  isHeapFull = true;
  for (const path of [LOGIN, '/trpc/auth.login', `${team.path}/labels`, '/trpc/labels.create']) {
    const { status, text } = start({ path, token: owner(), length: 100 });
    expect([path, await status]).toEqual([path, 503]);
    expect(text()).toMatch(/\r\nretry-after: 2\r\n/);
  }
  expect((await small.http.get('/health')).status).toBe(200);
  expect((await small.http.get(`${team.path}/labels`, owner())).status).toBe(200);
  isHeapFull = false;
  expect(await start({ length: LOGIN_BODY.length, sent: LOGIN_BODY }).status).toBe(401);
});
