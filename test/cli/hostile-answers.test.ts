/** What other people and other services can make the command line print. */
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiCommands, type Command } from '../../packages/cli/src/index.ts';
import { runCli } from '../../packages/cli/src/run-cli.ts';
import { root } from '../client/packed-client.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createCommandLine } from './command-line.ts';

/** Clears the screen, sets the title of the window, and writes from right to left. */
const HOSTILE = 'a\u001b[2J\u009b2Jb\u001b]0;title\u0007\rc\u202ed';
const SHOWN = 'a [2J 2Jb ]0;title  c d';

const server = createServer((request, response) => {
  if (request.url === '/api/text') return response.end(HOSTILE);
  if (request.url === '/file')
    return response.writeHead(200, { 'content-disposition': `attachment; filename="${filename}"` }).end('text');
  if (request.url?.startsWith('/trpc/library.')) {
    const data = { url: `${url}/file`, item: { id: 1, name: 'Offer', size: 4 } };
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify([{ result: { data } }]));
  }
  response.writeHead(400, { 'content-type': 'application/json' });
  return response.end(JSON.stringify({ code: 'BAD_REQUEST', message: HOSTILE, issues: [] }));
});
let url: string;
let filename = '';
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // `as`: a server that listens on a port has an address of this type.
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const greet: Command = {
  name: 'greet',
  summary: 'Print a text in every way',
  examples: ['lynxroom greet'],
  async run(context) {
    context.note(HOSTILE);
    context.print({ text: HOSTILE }, `first\n${HOSTILE}`);
    return undefined;
  },
};

async function run(argv: string[], isTTY: boolean) {
  const open = () => Object.assign(new PassThrough(), { isTTY });
  const io = { stdin: open(), stdout: open(), stderr: open() };
  const env = { LYNXROOM_URL: url, LYNXROOM_TOKEN: 'lns_x', HOME: '/nowhere' };
  const { signal } = new AbortController();
  const status = await runCli({ commands: [...apiCommands, greet], argv, env, io, signal, version: '1' });
  io.stdout.end();
  io.stderr.end();
  return { status, stdout: await text(io.stdout), stderr: await text(io.stderr) };
}

test('a terminal gets no control characters', async () => {
  expect(await run(['greet'], true)).toEqual({ status: 0, stdout: `first\n${SHOWN}\n`, stderr: `${SHOWN}\n` });
  expect((await run(['api', '/api/text'], true)).stdout).toBe(`${SHOWN}\n`);
  expect(await run(['api', '/api/error'], true)).toEqual({ status: 1, stdout: '', stderr: `${SHOWN}\n` });
});

test('a file gets the text as it is', async () => {
  expect((await run(['api', '/api/text'], false)).stdout).toBe(`${HOSTILE}\n`);
});

test('JSON has the text without control characters', async () => {
  for (const isTTY of [true, false]) {
    const { stdout } = await run(['greet', '--json'], isTTY);
    expect(stdout).toMatch(/^[ -~]+\n$/);
    expect(JSON.parse(stdout)).toEqual({ text: HOSTILE });
    const { stderr } = await run(['api', '/api/error', '--json'], isTTY);
    expect(stderr).toMatch(/^[ -~]+\n$/);
    expect(JSON.parse(stderr).error.message).toBe(HOSTILE);
  }
});

test.each(['../evil', '..\\\\evil', '/tmp/evil', '.bashrc', '..', ''])('no file is stored as %j', async (name) => {
  filename = name;
  const home = await makeTempDir();
  const cli = createCommandLine(home, [join(root, 'src/lynxroom.ts')]);
  const env = { LYNXROOM_URL: url, LYNXROOM_TOKEN: 'lns_x', LYNXROOM_WORKSPACE: '1' };
  expect(await cli.json(['download', '1'], { cwd: home, env })).toMatchObject({ file: 'download' });
  expect(await readdir(home)).toEqual(['download']);
  await rm(home, { recursive: true });
});

test.each(['#', '#/x', '?', '?a=b'])('an address that would hide the path of a call is refused: %s', async (end) => {
  const { status, stderr } = await run(['ls', '--url', `${url}/${end}`], false);
  expect([status, stderr]).toEqual([2, expect.stringContaining('is not the address of a service')]);
});
