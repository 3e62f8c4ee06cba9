/** The typed client: what it makes of refusals, and the operations whose bodies stream. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, refusalOf } from '../../src/client.ts';
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

test('a refused operation and a refused upload read the same', async () => {
  const { client } = await addPerson(app);
  const refusal = { status: 404, code: 'NOT_FOUND', message: 'Workspace not found', issues: [] };
  const id = 999_999;
  const file = new File(['%PDF-1.7'], 'a.pdf', { type: 'application/pdf' });
  for (const call of [() => client.labels.list.query({ id }), () => client.upload({ id, file })]) {
    const found = refusalOf(await reasonOf(call()));
    expect(found).toMatchObject(refusal);
    expect(found?.requestId).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test('a server that is not there refused nothing', async () => {
  const nobody = createClient({ url: 'http://127.0.0.1:1', token: 'lns_x' });
  const reason = await reasonOf(nobody.workspaces.list.query());
  expect(reason).toBeInstanceOf(Error);
  expect(refusalOf(reason)).toBeNull();
});

test('the token may change between calls', async () => {
  const { token, name } = await addPerson(app);
  let current: string | undefined;
  const client = createClient({ url: `${app.url}/`, token: () => current });
  expect(refusalOf(await reasonOf(client.auth.me.query()))?.code).toBe('UNAUTHORIZED');
  current = token;
  expect((await client.auth.me.query()).user.name).toBe(name);
});

const CSV = 'name,email\r\nVera Novak,vera@example.com\r\nnobody,no address\r\n';

test('contacts go in and out as CSV', async () => {
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
    expect(refusalOf(await reasonOf(call()))).toMatchObject({ status: 403, message: 'Forbidden' });
});

test("a recording is uploaded by its token, whoever the client is, else by the room's user", async () => {
  const { client } = await addPerson(app);
  const { room } = await client.rooms.create.mutate({});
  const file = new Blob([Uint8Array.from(makeMp4({ durationSeconds: 5, moov: 'front' }))], { type: 'video/mp4' });
  const stranger = createClient({ url: app.url });
  for (const isByToken of [true, false]) {
    const { recording, upload_token: uploadToken } = await client.recordings.start.mutate({ name: room.name });
    const recordingId = recording.id;
    const refused = await reasonOf(stranger.uploadRecording({ recordingId, file }));
    expect(refusalOf(refused)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    const uploaded = isByToken
      ? await stranger.uploadRecording({ recordingId, uploadToken, file })
      : await client.uploadRecording({ recordingId, file });
    expect(uploaded).toMatchObject({ id: recordingId, status: 'available', duration: 5 });
    const again = await reasonOf(stranger.uploadRecording({ recordingId, uploadToken, file }));
    expect(refusalOf(again)).toMatchObject({ status: 409, message: 'The recording has its file already' });
  }
});

test('what is aborted before it begins was refused by nobody', async () => {
  const { client } = await addPerson(app);
  const signal = AbortSignal.abort();
  const file = new Blob(['x'], { type: 'video/mp4' });
  for (const call of [
    () => client.uploadRecording({ recordingId: 1, file, signal }),
    () => client.importContacts({ id: 1, csv: CSV, signal }),
    () => client.exportContacts({ id: 1, signal }),
  ]) {
    const reason = await reasonOf(call());
    expect([reason, refusalOf(reason)]).toEqual([expect.objectContaining({ name: 'AbortError' }), null]);
  }
});
