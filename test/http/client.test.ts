/** The typed client: its errors, and the operations that send or receive files. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiError, createClient, toApiError } from '../../src/client.ts';
import { makeMp4 } from '../support/media.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function reasonOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
}

test('a failed procedure and a failed upload reject with the same ApiError', async () => {
  const { client } = await addPerson(app);
  const expected = { status: 404, code: 'NOT_FOUND', message: 'Workspace not found', issues: [] };
  const id = 999_999;
  const file = new File(['%PDF-1.7'], 'a.pdf', { type: 'application/pdf' });
  for (const call of [() => client.labels.list.query({ id }), () => client.upload({ id, file })]) {
    const found = toApiError(await reasonOf(call()));
    expect(found).toBeInstanceOf(ApiError);
    expect(found).toMatchObject(expected);
    expect(found?.requestId).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test('a failed connection is not an ApiError', async () => {
  const client = createClient({ url: 'http://127.0.0.1:1', token: 'lns_x' });
  const reason = await reasonOf(client.workspaces.list.query());
  expect(reason).toBeInstanceOf(Error);
  expect(toApiError(reason)).toBeNull();
});

test('the token may change between calls', async () => {
  const { token, name } = await addPerson(app);
  let current: string | undefined;
  const client = createClient({ url: `${app.url}/`, token: () => current });
  expect(toApiError(await reasonOf(client.auth.me.query()))?.code).toBe('UNAUTHORIZED');
  current = token;
  expect((await client.auth.me.query()).user.name).toBe(name);
});

test.each(['<h1>Bad gateway</h1>', 'null', '{}'])('an error response with the body %s is an ApiError', async (body) => {
  const fetch = async () => new Response(body, { status: 502 });
  const client = createClient({ url: 'http://127.0.0.1:1', fetch });
  expect(await reasonOf(client.exportContacts({ id: 1 }))).toMatchObject({
    name: 'ApiError',
    status: 502,
    code: 'UNKNOWN',
    message: 'The request failed with status 502',
    requestId: '',
    issues: [],
  });
});

const CSV = 'name,email\r\nVera Novak,vera@example.com\r\nnobody,no address\r\n';

test('contacts are imported from CSV and exported as CSV', async () => {
  const { id, admin, member } = await addTeam(app);
  for (const [csv, created] of [
    [CSV, 1],
    [new Blob([CSV]), 0],
  ] as const) {
    const answer = await admin.client.importContacts({ id, csv });
    expect([answer.created, answer.updated, answer.skipped_count]).toEqual([created, 1 - created, 1]);
  }
  const exported = await admin.client.exportContacts({ id });
  expect(exported.type).toMatch(/^text\/csv/);
  expect(await exported.text()).toContain('Vera Novak,vera@example.com');
  for (const call of [() => member.client.exportContacts({ id }), () => member.client.importContacts({ id, csv: CSV })])
    expect(toApiError(await reasonOf(call()))).toMatchObject({ status: 403, message: 'Forbidden' });
});

test("a recording is uploaded with its upload token or with the token of the room's user", async () => {
  const { client } = await addPerson(app);
  const { room } = await client.rooms.create.mutate({});
  const file = new Blob([Uint8Array.from(makeMp4({ durationSeconds: 5, moov: 'front' }))], { type: 'video/mp4' });
  const stranger = createClient({ url: app.url });
  for (const isByToken of [true, false]) {
    const { recording, upload_token: uploadToken } = await client.recordings.start.mutate({ name: room.name });
    const recordingId = recording.id;
    const refused = await reasonOf(stranger.uploadRecording({ recordingId, file }));
    expect(toApiError(refused)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    const uploaded = isByToken
      ? await stranger.uploadRecording({ recordingId, uploadToken, file })
      : await client.uploadRecording({ recordingId, file });
    expect(uploaded).toMatchObject({ id: recordingId, status: 'available', duration: 5 });
    const again = await reasonOf(stranger.uploadRecording({ recordingId, uploadToken, file }));
    expect(toApiError(again)).toMatchObject({ status: 409, message: 'The recording already has a file' });
  }
});

test('a request that is aborted before it starts rejects with AbortError', async () => {
  const { client } = await addPerson(app);
  const signal = AbortSignal.abort();
  const file = new Blob(['x'], { type: 'video/mp4' });
  for (const call of [
    () => client.uploadRecording({ recordingId: 1, file, signal }),
    () => client.importContacts({ id: 1, csv: CSV, signal }),
    () => client.exportContacts({ id: 1, signal }),
  ]) {
    const reason = await reasonOf(call());
    expect([reason, toApiError(reason)]).toEqual([expect.objectContaining({ name: 'AbortError' }), null]);
  }
});
