/** `lynxroom mcp` with messages and services that misbehave. `plan.test.ts` runs it as a process. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiCommands } from '../../packages/cli/src/index.ts';
import { runCli } from '../../packages/cli/src/run-cli.ts';

type Received = { headers: NodeJS.Dict<string | string[]>; url: string | undefined };

const received: Received[] = [];
let held: (() => void) | undefined;
/** Answers as the service does before and after it has read a message. */
const server = createServer((request, response) => {
  received.push({ headers: request.headers, url: request.url });
  void text(request).then((body) => {
    const { id, method } = JSON.parse(body);
    const send = (status: number, answer: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer, null, 2));
    if (method === 'initialize') return send(200, { jsonrpc: '2.0', id, result: { protocolVersion: '2025-06-18' } });
    if (method === 'unauthorized') return send(401, { code: 'UNAUTHORIZED', message: '/mcp needs an API key' });
    if (method === 'html') return response.writeHead(502).end('<html>Bad gateway</html>');
    if (method === 'held') {
      request.socket.once('close', () => held?.());
      return held?.();
    }
    return id === undefined ? response.writeHead(202).end() : send(200, { jsonrpc: '2.0', id, result: { method } });
  });
});
let url: string;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // `as`: a server that listens on a port has an address of this type.
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function start(args: readonly string[] = [], env: Record<string, string> = {}) {
  const io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const signals = new AbortController();
  const status = runCli({
    commands: apiCommands,
    argv: ['mcp', ...args],
    env: { HOME: '/nowhere', LYNXROOM_URL: url, LYNXROOM_TOKEN: 'lnx_key', ...env },
    io,
    signal: signals.signal,
    version: '1',
  });
  const finished = status.then(async (code) => {
    io.stdout.end();
    io.stderr.end();
    const lines = (await text(io.stdout)).split('\n').filter((line) => line !== '');
    return { code, answers: lines.map((line) => JSON.parse(line)), stderr: await text(io.stderr) };
  });
  return { stdin: io.stdin, finished, interrupt: () => signals.abort() };
}

const message = (method: string, id?: number, params?: object): string =>
  `${JSON.stringify({ jsonrpc: '2.0', ...(id !== undefined && { id }), method, ...(params && { params }) })}\n`;

test('every request gets one answer, in one line, whatever the service responds', async () => {
  const { stdin, finished } = start(['--groups', 'library', '--read-only']);
  stdin.write(message('unauthorized', 1) + message('html', 2));
  // A message may arrive in parts, and a character may be split.
  const split = Buffer.from(message('é', 3));
  for (const byte of split) stdin.write(Buffer.of(byte));
  stdin.write(`\n${message('notifications/initialized')}not JSON\n[]\n`);
  stdin.end(`${'x'.repeat(1024 * 1024 + 1)}\n${message('last', 4).trim()}`);
  const { code, answers, stderr } = await finished;
  expect([code, stderr]).toEqual([0, '']);
  const byId = (id: number) => answers.filter((answer) => answer.id === id);
  expect(byId(1)).toMatchObject([{ error: { code: -32_000, message: '/mcp needs an API key (HTTP 401)' } }]);
  expect(byId(2)).toMatchObject([{ error: { message: expect.stringContaining('HTTP 502'), data: { status: 502 } } }]);
  expect(byId(3)).toMatchObject([{ result: { method: 'é' } }]);
  expect(byId(4)).toMatchObject([{ result: { method: 'last' } }]);
  const unread = answers.filter(({ id }) => id === null).map(({ error }) => error.code);
  expect(unread.sort()).toEqual([-32_600, -32_700, -32_700]);
  expect(new Set(received.map((one) => one.url))).toEqual(new Set(['/mcp?groups=library&read_only=1']));
  expect(received[0]?.headers.authorization).toBe('Bearer lnx_key');
});

test('the headers of the protocol come from the messages', async () => {
  received.length = 0;
  const first = start();
  first.stdin.end(message('initialize', 1));
  await first.finished;
  const { stdin, finished } = start();
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  stdin.end(message('tools/call', 1, { name: 'Übung', _meta }));
  await finished;
  expect(received[0]?.headers).not.toHaveProperty('mcp-protocol-version');
  expect(received[1]?.headers).toMatchObject({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': `=?base64?${Buffer.from('Übung').toString('base64')}?=`,
  });
});

test('a cancelled request ends the call, and gets no answer', async () => {
  const { stdin, finished } = start();
  const arrived = new Promise<void>((resolve) => {
    held = resolve;
  });
  stdin.write(message('held', 7));
  await arrived;
  const hungUp = new Promise<void>((resolve) => {
    held = resolve;
  });
  stdin.write(message('notifications/cancelled', undefined, { requestId: 7 }));
  await hungUp;
  stdin.end();
  expect((await finished).answers).toEqual([]);
});

test('a service that does not answer, a session and Ctrl-C end as they should', async () => {
  const lost = start([], { LYNXROOM_URL: 'http://127.0.0.1:9' });
  lost.stdin.end(message('tools/list', 1));
  expect((await lost.finished).answers).toMatchObject([
    { id: 1, error: { message: expect.stringContaining('does not answer') } },
  ]);
  const session = await start([], { LYNXROOM_TOKEN: 'lns_session' }).finished;
  expect([session.code, session.stderr]).toEqual([3, expect.stringContaining('needs an API key')]);
  const stopped = start();
  stopped.interrupt();
  expect((await stopped.finished).answers).toEqual([]);
});
