/** An upload or an import that is sent again with its key is carried out once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToken, hashToken } from '../../src/auth/tokens.ts';
import { start, videoForm } from '../recordings/recording-fixtures.ts';
import { concurrently } from '../support/concurrently.ts';
import { eventsOf } from '../support/events.ts';
import { makeMp4 } from '../support/media.ts';
import { storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { newKey, type Outcome, sendFile, toOutcome } from './idempotent.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('a library upload', () => {
  beforeAll(async () => {
    team = await addTeam(app);
  });

  const countItems = () => app.services.db.libraryItem.count({ where: { workspaceId: team.id } });
  const post = (key: string, options: { text?: string; name?: string } = {}) =>
    sendFile(app, team.path, { key, token: team.member.token, ...options });

  test('that is sent again returns the same item, and stores nothing', async () => {
    const key = newKey();
    const first = await post(key, { name: 'Contract' });
    expect(first).toMatchObject({ status: 200, isReplayed: false });
    const files = await storedKeys(app);
    expect(await post(key, { name: 'Contract' })).toEqual({ ...first, isReplayed: true });
    expect([await countItems(), await storedKeys(app)]).toEqual([1, files]);
    expect(await eventsOf(app, team.id, 'library_item.uploaded')).toHaveLength(1);
  });

  test('with the same key and another file, name or workspace returns 422', async () => {
    const [key, count] = [newKey(), await countItems()];
    await post(key, { name: 'One' });
    expect((await post(key, { name: 'Two' })).status).toBe(422);
    expect((await post(key, { name: 'One', text: 'Other' })).status).toBe(422);
    const other = await addTeam(app);
    await app.services.db.member.create({
      data: { workspaceId: other.id, userId: team.member.id, role: 'member', joinedAt: app.clock.now() },
    });
    expect((await sendFile(app, other.path, { key, token: team.member.token, name: 'One' })).status).toBe(422);
    expect(await countItems()).toBe(count + 1);
  });

  test('that is sent 20 times at once adds one item', async () => {
    const [key, count] = [newKey(), await countItems()];
    const outcomes = await concurrently(20, () => post(key));
    const done = outcomes.filter(({ status }) => status === 200);
    expect(new Set(done.map(({ body }) => body.item.id)).size).toBe(1);
    for (const { status, body, retryAfter } of outcomes.filter((one) => !done.includes(one)))
      expect([status, body.code, retryAfter]).toEqual([409, 'IDEMPOTENCY_KEY_IN_USE', '1']);
    expect(await countItems()).toBe(count + 1);
    expect(await post(key)).toMatchObject({ status: 200, isReplayed: true });
  });

  test('that is refused leaves the key free', async () => {
    const key = newKey();
    const body = new FormData();
    body.append('file', new Blob(['<html>'], { type: 'application/pdf' }), 'a.pdf');
    const headers = { 'idempotency-key': key };
    const refused = await app.http.call('POST', `${team.path}/library`, { token: team.member.token, body, headers });
    expect(refused.status).toBe(400);
    expect(await post(key)).toMatchObject({ status: 200, isReplayed: false });
  });

  test('that breaks off leaves the key free', async () => {
    const key = newKey();
    const broken = new AbortController();
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(
          new TextEncoder().encode('--x\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-'),
        );
        setTimeout(() => broken.abort(), 50);
        return new Promise(() => {});
      },
    });
    const headers = { 'idempotency-key': key, 'content-type': 'multipart/form-data; boundary=x' };
    const { signal } = broken;
    const request = app.http.call('POST', `${team.path}/library`, { token: team.member.token, body, headers, signal });
    await expect(request).rejects.toThrow();
    await expect.poll(() => app.services.db.idempotencyKey.count({ where: { key } }), { timeout: 60_000 }).toBe(0);
    expect(await post(key)).toMatchObject({ status: 200, isReplayed: false });
  });

  test('without a valid key returns 400, and stores nothing', async () => {
    const count = await countItems();
    const { status, body } = await post('a b');
    expect([status, body.issues[0].path]).toEqual([400, 'Idempotency-Key']);
    expect(await countItems()).toBe(count);
  });
});

test('the file of a recording can be sent again, by the recorder and by the user of the room', async () => {
  const { db } = app.services;
  team = await addTeam(app);
  const { room } = (await app.http.post('/api/dashboard/rooms', team.owner.token, { workspace_id: team.id })).body;
  for (const archiveId of ['recorder', 'user']) {
    const id = await start(app, { workspaceId: team.id, roomId: room.id, archiveId });
    const token = archiveId === 'user' ? team.owner.token : createToken('lnr_');
    if (archiveId === 'recorder')
      await db.recording.updateMany({ where: { id }, data: { uploadTokenHash: hashToken(token) } });
    const key = newKey();
    const post = async (seconds = 5): Promise<Outcome> => {
      const body = videoForm(makeMp4({ durationSeconds: seconds, moov: 'front' }));
      const headers = { 'idempotency-key': key };
      return toOutcome(await app.http.call('POST', `/api/recordings/${id}/file`, { token, body, headers }));
    };
    const first = await post();
    expect(first).toMatchObject({ status: 200, isReplayed: false, body: { recording: { id, status: 'available' } } });
    expect(await post()).toEqual({ ...first, isReplayed: true });
    expect((await post(6)).status).toBe(422);
  }
});

test('an import is carried out once', async () => {
  team = await addTeam(app);
  const key = newKey();
  const post = async (csv: string): Promise<Outcome> => {
    const headers = { 'idempotency-key': key, 'content-type': 'text/csv' };
    const request = { token: team.owner.token, body: csv, headers };
    return toOutcome(await app.http.call('POST', `${team.path}/contacts/import`, request));
  };
  const csv = 'name,email\r\nVera,vera@example.com\r\n';
  const first = await post(csv);
  expect(first).toMatchObject({ status: 200, body: { created: 1, updated: 0 } });
  expect(await post(csv)).toEqual({ ...first, isReplayed: true });
  expect((await post(`${csv}Otto,otto@example.com\r\n`)).status).toBe(422);
});
