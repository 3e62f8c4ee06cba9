/** The receivers of the guide, run as they are written there, with messages that the service signs. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { toBody } from '../../src/webhook-delivery/envelope.ts';
import { createMessageId } from '../../src/webhook-delivery/message-id.ts';
import { signedHeaders } from '../../src/webhook-delivery/signature.ts';
import { createSigningKey } from '../../src/webhook-delivery/signing-keys.ts';

const guide = await readFile(new URL('../../docs/api.md', import.meta.url), 'utf8');

function readRecipe(language: string): string {
  const found = [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))];
  // Exactly one, so that each is tested.
  expect(found, `recipes in ${language}`).toHaveLength(1);
  return found[0]?.[1] ?? '';
}

// Some developers' machines have no Python. In continuous integration it must exist.
const isPythonTested = process.env.CI !== undefined || spawnSync('python3', ['--version']).status === 0;

const languages: [name: string, file: string, command: string][] = [
  ['js', 'receive-webhooks.mjs', process.execPath],
  ...(isPythonTested ? [['python', 'receive_webhooks.py', 'python3'] satisfies [string, string, string]] : []),
];

function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return address.port;
}

test('the guide has both recipes', () => {
  expect(readRecipe('js')).toContain('timingSafeEqual');
  expect(readRecipe('python')).toContain('compare_digest');
});

test.runIf(isPythonTested)('python3 exists, to run the second one', () => {
  const { error, status } = spawnSync('python3', ['--version']);
  expect([error, status]).toEqual([undefined, 0]);
});

/**
 * Sends only these bytes, and returns what arrives until the receiver closes the connection or `waitMs` have passed.
 */
async function exchange(port: number, bytes: string, waitMs: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let response = '';
  socket.on('data', (chunk: Buffer) => {
    response += chunk.toString('latin1');
  });
  // A receiver may close the connection if the body is too large.
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.write(bytes);
  await Promise.race([closed, sleep(waitMs)]);
  socket.destroy();
  return response;
}

describe.each(languages)('the receiver in %s', (language, file, command) => {
  const secret = newSecret();
  let dir: string;
  let receiver: ChildProcess;
  let url: string;
  let port: number;
  let printed = '';

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'lynxroom-recipe-'));
    await writeFile(join(dir, file), readRecipe(language));
    port = await findFreePort();
    url = `http://127.0.0.1:${port}`;
    receiver = spawn(command, [join(dir, file)], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, WEBHOOK_SECRET: secret, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    receiver.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    // It listens as soon as it accepts a connection.
    await vi.waitFor(() => fetch(url, { method: 'POST' }), { timeout: 20_000, interval: 50 });
  });
  afterAll(async () => {
    receiver.kill();
    await rm(dir, { recursive: true, force: true });
  });

  type Sample = { secrets?: readonly string[]; attemptAt?: Date; messageId?: string };

  const sample = ({ secrets = [secret], attemptAt = new Date(), messageId = createMessageId(attemptAt) }: Sample) => {
    const event = 'room.created';
    const timestamp = new Date('2026-01-01T00:00:00.000Z');
    // Another JSON library would write different bytes.
    const body = toBody({ event, timestamp, data: { room_name: 'Zoë’s 🐈 room', ratio: 1e-7, messageId } });
    const signed = { messageId, event, timestamp: timestamp.toISOString(), attemptAt, body };
    const [current = '', ...previous] = secrets;
    return { body, headers: signedHeaders({ ...signed, keys: [current, ...previous].map(createSigningKey) }) };
  };

  const post = async (path: string, { body, headers }: { body: string; headers: Record<string, string> }) =>
    (await fetch(url + path, { method: 'POST', body, headers })).status;

  describe.each(['/hook', '/standard'])('at %s', (path) => {
    const signature = path === '/hook' ? 'x-webhook-signature' : 'webhook-signature';

    test('accepts a message that is signed with its secret', async () => {
      const messageId = createMessageId(new Date());
      expect(await post(path, sample({ messageId }))).toBe(204);
      await expect.poll(() => printed).toMatch(new RegExp(`room.created 2026-01-01T00:00:00.000Z [^]*${messageId}`));
    });

    test('accepts a message after a rotation, with the new secret or the previous one', async () => {
      expect(await post(path, sample({ secrets: [secret, newSecret()] }))).toBe(204);
      expect(await post(path, sample({ secrets: [newSecret(), secret] }))).toBe(204);
    });

    test('processes a message once', async () => {
      const [messageId, next] = [createMessageId(new Date()), createMessageId(new Date())];
      for (let attempt = 0; attempt < 3; attempt += 1) expect(await post(path, sample({ messageId }))).toBe(204);
      expect(await post(path, sample({ messageId: next }))).toBe(204);
      await expect.poll(() => printed).toContain(next);
      expect(printed.split(messageId)).toHaveLength(2);
    });

    test('refuses another secret, another body, and a signature that is missing, broken or wrong', async () => {
      expect(await post(path, sample({ secrets: [newSecret()] }))).toBe(401);
      expect(await post(path, sample({ secrets: [newSecret(), newSecret()] }))).toBe(401);
      const { body, headers } = sample({});
      expect(await post(path, { body: `${body} `, headers })).toBe(401);
      expect(await post(path, { body: JSON.stringify(JSON.parse(body), null, 1), headers })).toBe(401);
      const { [signature]: given = '', ...others } = headers;
      expect(await post(path, { body, headers: others })).toBe(401);
      for (const wrong of ['', 'x', given.slice(0, -1), `${given}0`, given.toUpperCase(), 'v1,', 'é'])
        expect(await post(path, { body, headers: { ...others, [signature]: wrong } }), wrong).toBe(401);
    });
  });

  const toHead = (header: string): string => `POST /hook HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`;

  test('survives an incomplete body', async () => {
    for (let count = 0; count < 3; count += 1) await exchange(port, `${toHead('Content-Length: 100')}abc`, 100);
    await exchange(port, `${toHead('Transfer-Encoding: chunked')}5\r\nab`, 100);
    expect(await post('/hook', sample({}))).toBe(204);
    expect(receiver.exitCode).toBeNull();
  });

  test('accepts at most 1 MiB, and checks the size before the signature', async () => {
    const max = 1024 * 1024;
    expect(await exchange(port, toHead(`Content-Length: ${max + 1}`), 5_000)).toMatch(/^HTTP\/1\.[01] 413 /);
    const chunks = `10000\r\n${'a'.repeat(0x1_00_00)}\r\n`.repeat(17);
    const response = await exchange(port, toHead('Transfer-Encoding: chunked') + chunks, 5_000);
    expect(response).not.toMatch(/ 20\d | 401 /);
    const body = 'a'.repeat(max);
    expect(await post('/hook', { body, headers: { 'x-webhook-signature': 'x' } })).toBe(401);
    expect(receiver.exitCode).toBeNull();
  });

  test.each([undefined, '', 'lnx_a-key'])('with the secret %j it prints what is missing and exits', async (given) => {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, PORT: String(await findFreePort()) };
    const options = { env: given === undefined ? env : { ...env, WEBHOOK_SECRET: given }, encoding: 'utf8' } as const;
    const { status, stderr, stdout } = spawnSync(command, [join(dir, file)], { ...options, timeout: 20_000 });
    expect([status, stdout, stderr]).toEqual([
      1,
      '',
      'Set WEBHOOK_SECRET to the secret of the webhook: it begins with whsec_\n',
    ]);
  });

  test('at /standard refuses a replay, a time in the future, and another id or time than was signed', async () => {
    const minutes = (count: number): Date => new Date(Date.now() + count * 60_000);
    expect(await post('/standard', sample({ attemptAt: minutes(-4) }))).toBe(204);
    expect(await post('/standard', sample({ attemptAt: minutes(-6) }))).toBe(401);
    expect(await post('/standard', sample({ attemptAt: minutes(6) }))).toBe(401);
    const { body, headers } = sample({});
    for (const wrong of [
      { 'webhook-id': createMessageId(new Date()) },
      { 'webhook-timestamp': String(Math.floor(Date.now() / 1000) + 5) },
      { 'webhook-timestamp': 'now' },
      { 'webhook-timestamp': '' },
    ])
      expect(await post('/standard', { body, headers: { ...headers, ...wrong } })).toBe(401);
  });
});
