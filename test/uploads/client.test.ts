/** The typed client and the command line send large files in parts, and continue by themselves. */
import { createHash } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openUploadMemory } from '../../packages/cli/src/upload-memory.ts';
import { createClient, type TokenSource, type UploadMemory } from '../../packages/client/src/index.ts';
import { createCommandLine } from '../cli/command-line.ts';
import { makeMp4 } from '../support/media.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { pdfOf } from './tus-fixtures.ts';

const MIB = 1024 * 1024;
const FILE = Uint8Array.from(pdfOf(20 * MIB));

let app: TestApp;
let team: Team;
let urls: Map<string, string>;
let memory: UploadMemory;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await addTeam(app);
  urls = new Map();
  memory = {
    get: (key) => urls.get(key),
    set: (key, url) => void urls.set(key, url),
    delete: (key) => void urls.delete(key),
  };
});

type Sent = { method: string; path: string };

/** May answer instead of the service. */
type Interfere = (sent: Sent, index: number, forward: () => Promise<Response>) => Promise<Response> | undefined;

/** A client whose requests are recorded. */
function connect(
  interfere: Interfere = () => undefined,
  token: TokenSource = team.member.token,
  origins = new Set<string>(),
) {
  const sent: Sent[] = [];
  const client = createClient({
    url: app.url,
    token,
    uploads: memory,
    fetch: (input, init) => {
      const { pathname: path, origin } = new URL(String(input));
      const one = { method: init?.method ?? 'GET', path };
      origins.add(origin);
      sent.push(one);
      const forward = () => fetch(input, init);
      return interfere(one, sent.length - 1, forward) ?? forward();
    },
  });
  return { client, sent };
}

const fileOf = (bytes = FILE) => new File([bytes], 'large.pdf', { type: 'application/pdf', lastModified: 1 });
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function expectStored(itemId: number): Promise<void> {
  const { url } = await team.member.client.library.download.query({ id: team.id, itemId });
  expect(hashOf(new Uint8Array(await (await fetch(url)).arrayBuffer()))).toBe(hashOf(FILE));
  expect((await team.member.client.library.list.query({ id: team.id })).total).toBe(1);
  expect(await app.services.db.upload.count({ where: { workspaceId: team.id, result: null } })).toBe(0);
}

const lose = () => Promise.reject(new TypeError('fetch failed'));

test('a file of more than 8 MB is sent in parts, with its name and description, and reports its progress', async () => {
  const { client, sent } = connect();
  const progress: number[] = [];
  const input = { id: team.id, file: fileOf(), name: 'Ünïcode', description: 'Two\nlines' };
  const item = await client.upload(input, { onProgress: (one) => progress.push(one.sent) });
  expect(item).toMatchObject({ name: 'Ünïcode', description: 'Two\nlines', size: FILE.length });
  expect(sent.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH', 'GET']);
  expect(progress).toEqual([8 * MIB, 16 * MIB, FILE.length]);
  await expectStored(item.id);
  expect(urls.size).toBe(0);
});

test('a part that is refused because the token has ended is sent again with another token', async () => {
  let current = team.member.token;
  const token: TokenSource = ({ isRefused }) => {
    if (isRefused) current = team.member.token;
    return current;
  };
  const { client, sent } = connect((_, index) => {
    if (index === 1) current = 'lns_ended';
    return undefined;
  }, token);
  const item = await client.upload({ id: team.id, file: fileOf() });
  expect(sent.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH', 'PATCH', 'GET']);
  await expectStored(item.id);
});

test('a small file, and a stream, are sent in one request', async () => {
  const { client, sent } = connect();
  await client.upload({ id: team.id, file: fileOf(Uint8Array.from(pdfOf(1_000))) });
  const stream = {
    stream: (async function* () {
      yield FILE;
    })(),
    size: FILE.length,
    type: 'application/pdf',
    name: 'a.pdf',
  };
  await client.upload({ id: team.id, file: stream });
  expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual(Array(2).fill(`POST ${team.path}/library`));
});

test('a request that is lost is repeated from where the service is', async () => {
  const { client, sent } = connect((_, index) => (index === 1 ? lose() : undefined));
  const item = await client.upload({ id: team.id, file: fileOf() });
  expect(sent.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'HEAD', 'PATCH', 'PATCH', 'PATCH', 'GET']);
  await expectStored(item.id);
});

test('an answer that is lost after its part was stored costs no second transfer', async () => {
  const { client, sent } = connect(({ method }, index, forward) =>
    method === 'PATCH' && index === 1 ? forward().then(lose) : undefined,
  );
  const item = await client.upload({ id: team.id, file: fileOf() });
  expect(sent.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'HEAD', 'PATCH', 'PATCH', 'GET']);
  await expectStored(item.id);
});

test('a program that starts again continues, and one whose upload is gone begins again', async () => {
  const crash = new AbortController();
  const first = connect(({ method }, index) => {
    if (method === 'PATCH' && index === 2) crash.abort(new Error('closed'));
    return undefined;
  });
  const options = { signal: crash.signal };
  await expect(first.client.upload({ id: team.id, file: fileOf() }, options)).rejects.toThrow('closed');
  expect(urls.size).toBe(1);
  const second = connect();
  const item = await second.client.upload({ id: team.id, file: fileOf() });
  expect(second.sent.map(({ method }) => method)).toEqual(['HEAD', 'PATCH', 'PATCH', 'GET']);
  await expectStored(item.id);

  memory.get = () => `${app.url}${team.path}/library/uploads/gone`;
  const third = connect();
  await third.client.upload({ id: team.id, file: fileOf() });
  expect(third.sent.map(({ method }) => method)).toEqual(['HEAD', 'POST', 'PATCH', 'PATCH', 'PATCH', 'GET']);
});

test.each([
  ['another origin', (path: string) => `http://other.example${path}`],
  ['a path that looks like another host', (path: string) => `${app.url}//other.example${path}`],
  ['a path that becomes another host', (path: string) => `/.//other.example${path}`],
])('the credential goes to the address of the client alone, whatever the answer names: %s', async (_, rename) => {
  const origins = new Set<string>();
  const { client } = connect(
    ({ method }, _index, forward) =>
      method === 'POST'
        ? forward().then(({ status, headers, body }) => {
            const location = rename(new URL(headers.get('location') ?? '').pathname);
            return new Response(body, { status, headers: { ...Object.fromEntries(headers), location } });
          })
        : undefined,
    undefined,
    origins,
  );
  // What is remembered can be changed by all scripts of a page.
  memory.get = () => 'http://other.example/api/workspaces/1/library/uploads/x';
  // The service has no upload at the paths that name a host.
  await client.upload({ id: team.id, file: fileOf() }).catch(() => {});
  expect([...origins]).toEqual([app.url]);
});

test.each(['@other.example/x', '.other.example/x', 'http://other.example/x'])(
  'nor to a result at %s',
  async (result) => {
    const origins = new Set<string>();
    const headers = { 'upload-result': result, 'upload-offset': String(FILE.length) };
    const { client } = connect(
      ({ method }) => (method === 'PATCH' ? Promise.resolve(new Response(null, { status: 204, headers })) : undefined),
      undefined,
      origins,
    );
    await expect(client.upload({ id: team.id, file: fileOf() })).rejects.toThrow('instead of a path');
    expect([...origins]).toEqual([app.url]);
  },
);

test('a file that is refused is refused once, and forgotten', async () => {
  const { client, sent } = connect();
  const video = makeMp4({ durationSeconds: 3, moov: 'front', mdatBytes: 9 * MIB });
  const file = fileOf(Uint8Array.from(video));
  await expect(client.upload({ id: team.id, file })).rejects.toMatchObject({ status: 400 });
  expect(sent.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
  expect(urls.size).toBe(0);
});

test('a service without resumable uploads gets the file in one request', async () => {
  const { client, sent } = connect(({ path }) =>
    path.endsWith('/uploads') ? Promise.resolve(Response.json({ message: 'Not found' }, { status: 404 })) : undefined,
  );
  const item = await client.upload({ id: team.id, file: fileOf() });
  expect(sent.map(({ method }) => method)).toEqual(['POST', 'POST']);
  await expectStored(item.id);
});

test('the command line continues what was interrupted', async () => {
  const dir = await makeTempDir();
  const path = join(dir, 'large.pdf');
  await writeFile(path, FILE);
  const { mtimeMs } = await stat(path);
  // What an interrupted command leaves behind.
  memory = openUploadMemory({ HOME: dir });
  const crash = new AbortController();
  const { client } = connect(({ method }, index) => {
    if (method === 'PATCH' && index === 2) crash.abort(new Error('closed'));
    return undefined;
  });
  const options = { signal: crash.signal, resumeKey: JSON.stringify([path, FILE.length, mtimeMs]) };
  const file = await openAsBlob(path, { type: 'application/pdf' });
  const interrupted = client.upload({ id: team.id, file, filename: 'large.pdf' }, options);
  await expect(interrupted).rejects.toThrow('closed');
  const env = { LYNXROOM_URL: app.url, LYNXROOM_TOKEN: team.member.token, LYNXROOM_WORKSPACE: String(team.id) };
  const item = await createCommandLine(dir).json(['upload', path], { env });
  expect(item).toMatchObject({ name: 'large.pdf', size: FILE.length });
  expect(await app.services.db.upload.count({ where: { workspaceId: team.id } })).toBe(1);
  await expectStored(item.id);
  await rm(dir, { recursive: true });
});
