/** The health checks, and the documents that the service serves about itself. */

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readOpenApi30 } from '../../src/openapi/openapi-30.ts';
import { StorageUnavailableError } from '../../src/storage/object-store.ts';
import { document } from '../support/api.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, upload } from '../support/world.ts';

let app: TestApp;
let storeIsDown = false;

beforeAll(async () => {
  app = await startTestApp({
    wrapStore: (store) => ({
      ...store,
      checkReady: async () => {
        if (storeIsDown) throw new StorageUnavailableError('down', new Error('no route to 10.1.2.3'));
        await store.checkReady();
      },
    }),
  });
});
afterAll(() => app.close());

/** Other test files of this process may leave polls behind that never end. For this call they have just begun. */
async function readHealth(): Promise<{ status: number; body: unknown }> {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  return app.http.get('/health').finally(() => now.mockRestore());
}

describe('health checks', () => {
  test('/health reports a running process, and /ready a database and a store that respond', async () => {
    expect((await readHealth()).body).toEqual({ status: 'ok' });
    const { status, body } = await app.http.get('/ready');
    expect([status, body]).toEqual([200, { status: 'ok', database: true, storage: true }]);
  });

  test('/ready returns 503 and names the part that does not respond, without the cause', async () => {
    storeIsDown = true;
    const unavailable = { status: 'unavailable', database: true, storage: false };
    await expect.poll(async () => (await app.http.get('/ready')).body).toEqual(unavailable);
    const { status, body } = await app.http.get('/ready');
    storeIsDown = false;
    expect([status, body]).toEqual([503, unavailable]);
    expect((await readHealth()).status).toBe(200);
  });
});

test('while little disk space is left, /ready says that uploads are refused, and stays in service', async () => {
  const full = await startTestApp({ reserveBytes: Number.MAX_SAFE_INTEGER });
  const team = await addTeam(full);
  const refused = await upload(full, team.path, team.owner.token);
  expect([refused.status, refused.body.error]).toEqual([500, 'Upload failed: storage service unavailable']);
  const { status, body } = await full.http.get('/ready');
  const reason = expect.stringMatching(/^Uploads are refused: less than \d+ MiB is free on the disk$/);
  expect([status, body]).toEqual([200, { status: 'degraded', database: true, storage: false, reason }]);
  await full.close();
});

describe('documents', () => {
  test('/openapi.json returns the complete document', async () => {
    const { status, headers, body } = await app.http.get('/openapi.json');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(body).toEqual(JSON.parse(JSON.stringify(document)));
  });

  test('/openapi-3.0.json returns the document as OpenAPI 3.0', async () => {
    const { status, headers, body } = await app.http.get('/openapi-3.0.json');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(body).toEqual(JSON.parse(JSON.stringify(await readOpenApi30(document))));
  });
});

describe('other requests', () => {
  test('/trpc rejects a multipart body and a streamed batch', async () => {
    const form = new FormData();
    form.append('a', new Blob([new Uint8Array(2_000_000)]), 'f');
    const multipart = await app.http.call('POST', '/trpc/auth.login', { body: form });
    expect([multipart.status, multipart.body.error.message]).toEqual([415, 'Content type must be application/json']);
    expect(multipart.body.error.data.request_id).not.toBe('');
    const streamed = await app.http.call('POST', '/trpc/auth.login?batch=1', {
      json: { 0: {} },
      headers: { 'trpc-accept': 'application/jsonl' },
    });
    expect([streamed.status, streamed.body.error.data.code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('the root path redirects to the docs', async () => {
    const { status, headers } = await app.http.get('/');
    expect([status, headers.get('location')]).toEqual([302, '/docs']);
  });
});
