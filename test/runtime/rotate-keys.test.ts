/** Rotating both secrets of an installation that stores them in its data directory, with real processes. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { freePort } from '../support/free-port.ts';
import { createHttp } from '../support/http.ts';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { PASSWORD } from '../support/world.ts';

// A start takes long on a busy machine. All waits end with an event.
vi.setConfig({ testTimeout: 10 * MINUTE_MS, hookTimeout: 10 * MINUTE_MS });
afterAll(() => vi.resetConfig());

let dataDir: string;
let port: number;
let server: ServerProcess | undefined;
beforeAll(async () => {
  dataDir = await makeTempDir();
  port = await freePort();
});
afterAll(async () => {
  if (server) await stopServer(server);
  await rm(dataDir, { recursive: true, force: true });
});

async function restart(): Promise<ReturnType<typeof createHttp>> {
  if (server) await stopServer(server);
  server = startServer({ DATA_DIR: dataDir, PORT: String(port) });
  return createHttp(await server.ready);
}

async function changeLines(name: string, change: (lines: string[]) => string[]): Promise<void> {
  const path = join(dataDir, name);
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  await writeFile(path, `${change(lines).join('\n')}\n`);
}

test('links, retries and sealed secrets outlive a rotation, until the old secrets are removed', async () => {
  const before = await restart();
  const ada = { name: 'Ada', email: 'ada@example.com', password: PASSWORD };
  const { token } = (await before.post('/api/auth/register', undefined, ada)).body;
  const { workspaces } = (await before.get('/api/workspaces', token)).body;
  const path = `/api/workspaces/${workspaces[0].id}`;
  const file = new FormData();
  file.append('file', new Blob(['%PDF-1.4\n%%EOF\n'], { type: 'application/pdf' }), 'a.pdf');
  const { item } = (await before.call('POST', `${path}/library`, { token, body: file })).body;
  const { url } = (await before.get(`${path}/library/${item.id}/download`, token)).body;
  const headers = { 'idempotency-key': 'across-a-restart' };
  const create = (http: typeof before) =>
    http.call('POST', '/api/dashboard/rooms', { token, headers, json: { name: 'kept-room' } });
  const first = await create(before);
  expect([(await fetch(url)).status, first.status]).toEqual([200, 201]);

  await changeLines('signing-secret', (lines) => ['a new secret for this test', ...lines]);
  await changeLines('encryption-key', (lines) => [Buffer.alloc(32, 7).toString('base64'), ...lines]);
  const during = await restart();
  expect((await fetch(url)).status).toBe(200);
  expect((await create(during)).body).toEqual(first.body);
  const renewed = (await during.get(`${path}/library/${item.id}/download`, token)).body.url;

  await changeLines('signing-secret', (lines) => lines.slice(0, 1));
  const after = await restart();
  expect((await fetch(url)).status).toBe(403);
  expect((await fetch(renewed)).status).toBe(200);
  expect((await create(after)).body).toEqual(first.body);
});
