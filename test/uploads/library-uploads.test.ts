import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsOf } from '../support/events.ts';
import { storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { append, cancel, create, created, head, pdfMetadata, pdfOf, toMetadata } from './tus-fixtures.ts';

let app: TestApp;
let team: Team;
let uploads: string;
let token: string;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  uploads = `${team.path}/library/uploads`;
  token = team.member.token;
});
afterAll(() => app.close());

const download = async (path: string): Promise<Buffer> => {
  const { body } = await app.http.get(`${path}/download`, token);
  return Buffer.from(await (await fetch(body.url)).arrayBuffer());
};

test('a file in three requests becomes one item, which the last response names, and emits one event', async () => {
  const file = pdfOf(50_000);
  const { status, headers } = await create(app, uploads, token, { length: file.length });
  expect(status).toBe(201);
  expect(headers.get('tus-resumable')).toBe('1.0.0');
  const upload = new URL(headers.get('location') ?? '').pathname;
  const first = await append(app, upload, token, 0, file.subarray(0, 10));
  expect(first.status).toBe(204);
  expect(first.headers.get('upload-offset')).toBe('10');
  expect(first.headers.get('upload-result')).toBeNull();
  expect((await append(app, upload, token, 10, file.subarray(10, 30_000))).headers.get('upload-offset')).toBe('30000');
  const state = await head(app, upload, token);
  expect(state.status).toBe(200);
  expect(Object.fromEntries(state.headers)).toMatchObject({
    'upload-offset': '30000',
    'upload-length': '50000',
    'upload-metadata': pdfMetadata,
    'cache-control': 'no-store',
  });
  const last = await append(app, upload, token, 30_000, file.subarray(30_000));
  expect(last.status).toBe(204);
  const result = last.headers.get('upload-result') ?? '';
  const { item } = (await app.http.get(result, token)).body;
  expect(item).toMatchObject({
    name: 'Offer.pdf',
    description: 'The first',
    size: 50_000,
    mime_type: 'application/pdf',
  });
  expect((await download(result)).equals(file)).toBe(true);
  const row = await app.services.db.libraryItem.findFirstOrThrow({ where: { id: item.id } });
  expect(Buffer.from(row.sha256)).toEqual(createHash('sha256').update(file).digest());
  // A client that has lost the response learns the result.
  expect((await head(app, upload, token)).headers.get('upload-result')).toBe(result);
  const again = await append(app, upload, token, 50_000, undefined);
  expect([again.status, again.headers.get('upload-result')]).toEqual([204, result]);
  expect(await eventsOf(app, team.id, 'library_item.uploaded')).toHaveLength(1);
});

test('an upload whose length is named later is complete when its bytes are', async () => {
  const file = pdfOf(9_000);
  const upload = await created(app, uploads, token, { metadata: toMetadata({ filename: 'late.pdf', name: 'Late' }) });
  await append(app, upload, token, 0, file.subarray(0, 5_000));
  const state = await head(app, upload, token);
  expect([state.headers.get('upload-defer-length'), state.headers.get('upload-length')]).toEqual(['1', null]);
  const short = await append(app, upload, token, 5_000, file.subarray(5_000), { 'upload-length': '4999' });
  expect([short.status, short.body.message]).toEqual([
    400,
    'Upload-Length must be at least 5000, the number of stored bytes',
  ]);
  const last = await append(app, upload, token, 5_000, file.subarray(5_000), { 'upload-length': '9000' });
  const { item } = (await app.http.get(last.headers.get('upload-result') ?? '', token)).body;
  expect(item).toMatchObject({ name: 'Late', size: 9_000 });
});

test('a wrong offset is refused with the right one, and stores nothing', async () => {
  const upload = await created(app, uploads, token, { length: 100 });
  const ahead = await append(app, upload, token, 5, pdfOf(10));
  expect([ahead.status, ahead.headers.get('upload-offset')]).toEqual([409, '0']);
  expect(ahead.body.message).toBe('Upload-Offset must be 0, the number of stored bytes');
  await append(app, upload, token, 0, pdfOf(10));
  const twice = await append(app, upload, token, 0, pdfOf(10));
  expect([twice.status, twice.headers.get('upload-offset')]).toEqual([409, '10']);
});

test('the type is checked before the first byte and by the first bytes; a refusal leaves nothing', async () => {
  const declared = await create(app, uploads, token, { length: 10, metadata: toMetadata({ filename: 'a.exe' }) });
  expect([declared.status, declared.body.message]).toEqual([400, 'Only PDF and MP4 files are supported']);
  const before = await storedKeys(app);
  for (const parts of [[4_000, 6_000], [3_000], [10_000]]) {
    const size = parts.reduce((sum, part) => sum + part, 0);
    const upload = await created(app, uploads, token, { length: size });
    const bytes = Buffer.alloc(size, ' ');
    bytes.write('<!doctype html>');
    let last = 204;
    let at = 0;
    for (const part of parts) {
      last = (await append(app, upload, token, at, bytes.subarray(at, at + part))).status;
      at += part;
    }
    expect(last).toBe(400);
    expect((await head(app, upload, token)).status).toBe(404);
  }
  expect(await storedKeys(app)).toEqual(before);
});

test('a cancelled upload is gone; what a complete one added stays', async () => {
  const upload = await created(app, uploads, token, { length: 100 });
  await append(app, upload, token, 0, pdfOf(50));
  expect((await cancel(app, upload, token)).status).toBe(204);
  expect((await cancel(app, upload, token)).body.message).toBe('Upload not found');
  const complete = await created(app, uploads, token, { length: 100 });
  const result = (await append(app, complete, token, 0, pdfOf(100))).headers.get('upload-result') ?? '';
  expect((await cancel(app, complete, token)).status).toBe(204);
  expect((await app.http.get(result, token)).status).toBe(200);
});

test('only its creator continues an upload; for others it does not exist', async () => {
  const upload = await created(app, uploads, token, { length: 100 });
  for (const other of [team.owner.token, team.admin.token]) {
    expect((await append(app, upload, other, 0, pdfOf(100))).status).toBe(404);
    expect((await head(app, upload, other)).status).toBe(404);
    expect((await cancel(app, upload, other)).status).toBe(404);
  }
  expect((await append(app, upload, token, 0, pdfOf(100))).status).toBe(204);
});
