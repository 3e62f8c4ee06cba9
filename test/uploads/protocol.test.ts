import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { beginWithTus, uploadWithTus, uploadWithUppy } from './stock-clients.mjs';
import { pdfOf } from './tus-fixtures.ts';

let app: TestApp;
let team: Team;
let uploads: string;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  uploads = `${team.path}/library/uploads`;
});
afterAll(() => app.close());

const headersOf = () => ({ authorization: `Bearer ${team.member.token}` });

async function sizeOf(result: string): Promise<number> {
  return (await app.http.get(result, team.member.token)).body.item.size;
}

test('OPTIONS tells what the server supports, and browsers of other origins may read the headers', async () => {
  const plain = await fetch(app.url + uploads, { method: 'OPTIONS' });
  expect(plain.status).toBe(204);
  expect(Object.fromEntries(plain.headers)).toMatchObject({
    'tus-resumable': '1.0.0',
    'tus-version': '1.0.0',
    'tus-extension': 'creation,creation-defer-length,expiration,termination',
  });
  const origin = { origin: 'https://app.example.com' };
  const preflight = await fetch(`${app.url}${uploads}/x`, {
    method: 'OPTIONS',
    headers: { ...origin, 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'upload-offset' },
  });
  expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH');
  expect(preflight.headers.get('access-control-allow-headers')).toBe('upload-offset');
  const exposed = preflight.headers.get('access-control-expose-headers');
  for (const name of ['location', 'upload-offset', 'upload-length', 'upload-result', 'tus-resumable'])
    expect(exposed?.split(', ')).toContain(name);
  expect((await fetch(`${app.url}/api/workspaces`, { method: 'OPTIONS' })).status).toBe(400);
});

test('tus-js-client uploads a file in parts, and resumes it from its URL', async () => {
  const file = pdfOf(700_000);
  const metadata = { filename: 'stock.pdf', filetype: 'application/pdf' };
  const options = { endpoint: app.url + uploads, headers: headersOf(), chunkSize: 100_000, metadata };
  const uploadUrl = await beginWithTus(file, options, 300_000);
  expect(await sizeOf(await uploadWithTus(file, { ...options, uploadUrl }))).toBe(700_000);
});

test('tus-js-client uploads a stream whose length it does not know', async () => {
  const file = pdfOf(250_000);
  const stream = Readable.from([file.subarray(0, 120_000), file.subarray(120_000)], { objectMode: false });
  const options = { endpoint: app.url + uploads, headers: headersOf(), chunkSize: 100_000 };
  const metadata = { filename: 'stream.pdf' };
  expect(await sizeOf(await uploadWithTus(stream, { ...options, metadata, uploadLengthDeferred: true }))).toBe(250_000);
});

test('Uppy uploads a file', async () => {
  const file = { name: 'uppy.pdf', type: 'application/pdf', data: pdfOf(250_000) };
  const result = await uploadWithUppy(file, { endpoint: app.url + uploads, headers: headersOf(), chunkSize: 100_000 });
  expect(result).toEqual({ errors: [], count: 1 });
  const { items } = (await app.http.get(`${team.path}/library?search=uppy`, team.member.token)).body;
  expect(items).toMatchObject([{ name: 'uppy.pdf', size: 250_000 }]);
});
