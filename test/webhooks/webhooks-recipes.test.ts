/** The receivers of the guide, with messages that the service signs. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { toBody } from '../../src/events/envelope.ts';
import { createMessageId } from '../../src/webhook-delivery/message-id.ts';
import { signedHeaders } from '../../src/webhook-delivery/signature.ts';
import { createSigningKey } from '../../src/webhook-delivery/signing-keys.ts';
import { freePort } from '../support/free-port.ts';

const dir = fileURLToPath(new URL('../../examples/webhook-receivers/', import.meta.url));

type Language = {
  file: string;
  /** The program, and its arguments before the file. */
  command: (port: number) => [string, ...string[]];
  /** Whether the receiver reads the request itself. PHP's own server does it for the one in PHP. */
  readsRequest: boolean;
};

const languages: [name: string, Language][] = [
  ['Node', { file: 'receive-webhooks.mjs', command: () => [process.execPath], readsRequest: true }],
  ['Python', { file: 'receive_webhooks.py', command: () => ['python3'], readsRequest: true }],
  ['PHP', { file: 'receive-webhooks.php', command: (port) => ['php', '-S', `127.0.0.1:${port}`], readsRequest: false }],
  ['Go', { file: 'receive-webhooks.go', command: () => ['go', 'run'], readsRequest: true }],
];

// Some machines have not all of these languages.
const installed = languages.filter(([name, { command }]) => {
  const [program] = command(0);
  if (spawnSync('sh', ['-c', `command -v "$0"`, program]).status === 0) return true;
  process.stderr.write(`${program} is not installed: the tests of the webhook receiver in ${name} are skipped\n`);
  return false;
});

function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

test('Python exists in continuous integration', () => {
  if (process.env.CI !== undefined) expect(installed.map(([name]) => name)).toContain('Python');
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

describe.each(installed)('the receiver in %s', (_, { file, command, readsRequest }) => {
  const secret = newSecret();
  let home: string;
  let receiver: ChildProcess;
  let url: string;
  let port: number;
  let printed = '';

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'lynxroom-recipe-'));
    port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const [program, ...args] = command(port);
    receiver = spawn(program, [...args, join(dir, file)], {
      env: { PATH: process.env.PATH, HOME: home, TMPDIR: home, WEBHOOK_SECRET: secret, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
      // `go run` starts the receiver as another process.
      detached: true,
    });
    for (const stream of [receiver.stdout, receiver.stderr])
      stream?.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
      });
    // It listens as soon as it accepts a connection.
    await vi.waitFor(() => fetch(url, { method: 'POST' }), { timeout: 60_000, interval: 50 });
  });
  afterAll(async () => {
    if (receiver.pid !== undefined) process.kill(-receiver.pid);
    await rm(home, { recursive: true, force: true });
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

  if (readsRequest) {
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
      const env = { PATH: process.env.PATH, HOME: home, PORT: String(await freePort()) };
      const options = { env: given === undefined ? env : { ...env, WEBHOOK_SECRET: given }, encoding: 'utf8' } as const;
      const [program, ...args] = command(port);
      const { status, stderr, stdout } = spawnSync(program, [...args, join(dir, file)], {
        ...options,
        timeout: 60_000,
      });
      expect([status, stdout]).toEqual([1, '']);
      // `go run` adds a line with the exit status.
      expect(stderr.replace('exit status 1\n', '')).toBe(
        'Set WEBHOOK_SECRET to the secret of the webhook: it begins with whsec_\n',
      );
    });
  }

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
