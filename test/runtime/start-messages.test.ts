/** What a start says about its environment: `.env`, misspelt settings, an unavailable store, and the format of logs. */
import { execFile, spawnSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { createHttp } from '../support/http.ts';
import { startCommand } from '../support/script-process.ts';
import { startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase } from '../support/test-app.ts';

const PERSON = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

let directory: string;
beforeEach(async () => {
  directory = await makeTempDir();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test('the npm scripts of the service load .env of the current directory, and the environment wins', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  for (const name of ['start', 'worker', 'database', 'demo', 'lynxroom']) {
    expect(scripts[name]).toContain('node --import ./scripts/load-env.mjs ');
  }
  await writeFile(join(directory, '.env'), 'PORT=4000\nHOST=::1\n');
  const print = 'console.log(process.env.PORT, process.env.HOST)';
  const args = ['--import', join(root, 'scripts/load-env.mjs'), '--eval', print];
  const { stdout } = await run(process.execPath, args, { cwd: directory, env: { PORT: '5000' } });
  expect(stdout).toBe('5000 ::1\n');
});

test('a misspelt setting and a store that does not respond are reported, and the server starts', async () => {
  const livekit = {
    LIVEKIT_URL: 'wss://livekit.example.com',
    LIVEKIT_API_KEY: 'APIkey',
    LIVEKIT_API_SECRET: 'whisper',
  };
  const database = await createDatabase();
  const server = startServer({
    DATABASE_URL: database.url,
    DATA_DIR: directory,
    S3_BUCKET: 'files',
    S3_ENDPOINT: 'http://127.0.0.1:1',
    S3_ACCESS_KEY_ID: 'key',
    S3_SECRET_ACCESS_KEY: 'not-for-logs',
    S3_REGOIN: 'hunter2',
    ...livekit,
  });
  try {
    const url = await server.ready;
    expect((await fetch(`${url}/ready`)).status).toBe(503);
    await eventually(async () => expect(server.output()).toContain('The object store is unavailable'));
    const logged = server
      .output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(logged).toContainEqual(
      expect.objectContaining({
        level: 40,
        msg: 'Unknown settings, which have no effect: S3_REGOIN (did you mean S3_REGION?)',
      }),
    );
    expect(logged).toContainEqual(
      expect.objectContaining({
        level: 40,
        bucket: 'files',
        endpoint: 'http://127.0.0.1:1',
        reason: expect.stringContaining('ECONNREFUSED'),
        msg: 'The object store is unavailable: uploads and downloads fail',
      }),
    );
    // The settings of LiveKit reach the answers, without the secret.
    const http = createHttp(url);
    const { token } = (await http.post('/api/auth/register', undefined, PERSON)).body;
    const { room } = (await http.post('/api/dashboard/rooms', token, {})).body;
    const { media } = (await http.post(`/api/rooms/${room.name}/join`, token, {})).body;
    expect(media).toMatchObject({ kind: 'livekit', url: livekit.LIVEKIT_URL });
    expect(server.output()).not.toMatch(/hunter2|not-for-logs|whisper/);
  } finally {
    await stopServer(server);
    await database.drop();
  }
});

// `script`, which gives a program a terminal, belongs to the base system of Debian.
const hasScript = spawnSync('script', ['--version']).status === 0;

test.skipIf(!hasScript)('log lines are readable in a terminal, and JSON in production', async () => {
  const database = await createDatabase();
  const env = { DATABASE_URL: database.url, DATA_DIR: directory, PORT: '0', TERM: 'dumb' };
  const startInTerminal = (more: Record<string, string>) =>
    startCommand(
      ['script', '--quiet', '--flush', '--command', `${process.execPath} src/server.ts`, join(directory, 'typescript')],
      { ...env, ...more },
      (output) => (output.includes('Listening') ? output : undefined),
    );
  try {
    const readable = startInTerminal({});
    expect(await readable.ready).toMatch(/\[\d\d:\d\d:\d\d\] .*INFO.*: .*Listening/);
    await readable.end('SIGTERM');
    const production = startInTerminal({ NODE_ENV: 'production' });
    expect(await production.ready).toMatch(/^\{"level":30,.*"msg":"Listening"\}/m);
    await production.end('SIGTERM');
  } finally {
    await database.drop();
  }
});
