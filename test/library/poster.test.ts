/** The posters of items and recordings: who sets and reads them, what is stored, and when it goes. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { removeDiscardedObjects } from '../../src/storage/discarded-objects.ts';
import { sweepStorage } from '../../src/storage/sweep.ts';
import { uploadFile, videoForm } from '../recordings/recording-fixtures.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { eventsOf } from '../support/events.ts';
import type { Answer } from '../support/http.ts';
import { jpeg, webp } from '../support/images.ts';
import { storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';
import { createFaultyStore, failUnavailable } from './upload/faults.ts';

const { faults, wrapStore, real } = createFaultyStore();

let app: TestApp;
let team: Team;
let item: string;
beforeAll(async () => {
  app = await startTestApp({ wrapStore });
});
beforeEach(async () => {
  team = await addTeam(app);
  const { body } = await upload(app, team.path, team.member.token);
  item = `${team.path}/library/${body.item.id}`;
});
afterEach(() => {
  for (const name of Object.keys(faults)) Reflect.deleteProperty(faults, name);
});
afterAll(() => app.close());

async function setPoster(
  path: string,
  token: string | undefined,
  bytes: Uint8Array,
  type = 'image/jpeg',
): Promise<Pick<Answer, 'status' | 'body'>> {
  const response = await fetch(`${app.url}${path}/poster`, {
    method: 'PUT',
    headers: { ...(token && { authorization: `Bearer ${token}` }), 'content-type': type },
    body: new Uint8Array(bytes),
  });
  return { status: response.status, body: await response.json() };
}

function getPoster(url: string, token: string, headers: Record<string, string> = {}, method = 'GET') {
  return fetch(url, { method, headers: { authorization: `Bearer ${token}`, ...headers } });
}

async function readingKey(): Promise<string> {
  const key = { name: 'Reader', scopes: ['library:read'] };
  return (await app.http.post(`${team.path}/api-keys`, team.owner.token, key)).body.apiKey.full_key;
}

async function posters(): Promise<string[]> {
  return (await storedKeys(app, team.id)).filter((key) => key.includes('/posters/'));
}

describe('the poster of an item', () => {
  test('is returned as the image that it is, at a URL that items name and browsers keep', async () => {
    expect((await app.http.get(item, team.member.token)).body.item.poster_url).toBe(null);
    const set = await setPoster(item, team.member.token, jpeg, 'text/html');
    expect(set.status).toBe(200);
    const url: string = set.body.item.poster_url;
    expect(url).toMatch(new RegExp(`^${app.url}${item}/poster\\?v=[0-9a-f]{8}$`));
    expect((await app.http.get(item, team.member.token)).body.item).toEqual(set.body.item);
    const { items } = (await app.http.get(`${team.path}/library`, team.member.token)).body;
    expect(items).toEqual([set.body.item]);
    expect((await team.member.client.library.list.query({ id: team.id })).items[0]?.poster_url).toBe(url);
    const renamed = await app.http.patch(item, team.member.token, { name: 'Renamed' });
    expect(renamed.body.item.poster_url).toBe(url);

    const response = await getPoster(url, team.member.token);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'cache-control': 'private, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    // The comment of the encoder is removed.
    expect([jpeg.includes('Lavc'), bytes.includes('Lavc'), bytes.length < jpeg.length]).toEqual([true, false, true]);
    const tag = response.headers.get('etag') ?? '';
    expect((await getPoster(url, team.member.token, { 'if-none-match': tag })).status).toBe(304);
    const head = await getPoster(url, team.member.token, {}, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, `${bytes.length}`]);
    for (const other of [`${app.url}${item}/poster`, `${app.url}${item}/poster?v=00000000`])
      expect((await getPoster(other, team.member.token)).headers.get('cache-control')).toBe('private, no-cache');
  });

  test('is replaced by the next one, also by several at once, and goes with the item', async () => {
    const first = await setPoster(item, team.member.token, jpeg);
    const second = await setPoster(item, team.owner.token, webp);
    expect(second.body.item.poster_url).not.toBe(first.body.item.poster_url);
    const response = await getPoster(second.body.item.poster_url, team.member.token);
    expect(response.headers.get('content-type')).toBe('image/webp');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(webp);

    const answers = await concurrently(6, () => setPoster(item, team.member.token, jpeg));
    expect(countStatuses(answers)).toEqual({ 200: 6 });
    await removeDiscardedObjects(app.services);
    expect(await posters()).toHaveLength(1);

    await sweepStorage({ ...app.services, clock: { now: () => new Date(Date.now() + 172_800_000) } });
    expect(await posters()).toHaveLength(1);
    expect((await app.http.delete(item, team.member.token)).status).toBe(200);
    await removeDiscardedObjects(app.services);
    expect(await storedKeys(app, team.id)).toEqual([]);
  });

  test('tells the live updates, and nothing else, that the item has changed', async () => {
    await setPoster(item, team.member.token, jpeg);
    const [event] = await eventsOf(app, team.id, 'library_item.updated');
    expect(event?.data).toMatchObject({ workspace_id: team.id, mime_type: 'application/pdf' });
    expect(await eventsOf(app, team.id, 'library_item.uploaded')).toHaveLength(1);
  });

  test('is rejected unless it is a small image, and leaves nothing behind', async () => {
    const rejected = async (bytes: Uint8Array) => {
      const { status, body } = await setPoster(item, team.member.token, bytes);
      return [status, body.error, body.issues?.[0]?.path];
    };
    const message = 'The poster must be a JPEG or WebP image';
    expect(await rejected(Buffer.from('<svg onload="alert(1)"/>'))).toEqual([400, message, 'poster']);
    expect(await rejected(Buffer.alloc(0))).toEqual([400, message, 'poster']);
    expect(await rejected(jpeg.subarray(0, -2))).toEqual([400, message, 'poster']);
    const fitting = Buffer.concat([jpeg, Buffer.alloc(40_960 - jpeg.length)]);
    expect((await setPoster(item, team.member.token, fitting)).status).toBe(200);
    await app.services.db.libraryItem.updateMany({ where: { workspaceId: team.id }, data: { posterKey: null } });
    await removeDiscardedObjects(app.services);
    expect((await rejected(Buffer.concat([fitting, Buffer.alloc(1)])))[0]).toBe(413);
    expect(await posters()).toEqual([]);
    expect((await app.http.get(item, team.member.token)).body.item.poster_url).toBe(null);
  });

  test('belongs to the members of the workspace', async () => {
    const stranger = await addTeam(app);
    const { body } = await setPoster(item, team.member.token, jpeg);
    const url: string = body.item.poster_url;
    const attempts = [undefined, stranger.owner.token, await readingKey()];
    const statuses = await Promise.all(
      attempts.map(async (token) => [
        (await setPoster(item, token, webp)).status,
        (await fetch(url, { headers: token ? { authorization: `Bearer ${token}` } : {} })).status,
      ]),
    );
    expect(statuses).toEqual([
      [401, 401],
      [403, 403],
      [403, 200],
    ]);
    const elsewhere = item.replace(team.path, stranger.path);
    expect((await setPoster(elsewhere, stranger.owner.token, webp)).body).toMatchObject({ error: 'Item not found' });
    expect((await getPoster(`${app.url}${elsewhere}/poster`, stranger.owner.token)).status).toBe(404);
    expect(await posters()).toHaveLength(1);
  });

  test('without one, 404; while the store is unavailable, 500 and nothing is stored', async () => {
    const missing = await app.http.get(`${item}/poster`, team.member.token);
    expect([missing.status, missing.body.error]).toEqual([404, 'Poster not found']);
    faults.put = failUnavailable;
    const failed = await setPoster(item, team.member.token, jpeg);
    expect([failed.status, failed.body.error]).toEqual([500, 'Upload failed: storage service unavailable']);
    Reflect.deleteProperty(faults, 'put');
    await setPoster(item, team.member.token, jpeg);
    faults.read = failUnavailable;
    const unread = await app.http.get(`${item}/poster`, team.member.token);
    expect([unread.status, unread.body.error]).toEqual([500, 'Download failed: storage service unavailable']);
    expect(await posters()).toHaveLength(1);
  });
});

describe('the poster of a recording', () => {
  let recording: { id: number; token: string; room: string };
  beforeEach(async () => {
    const { room } = (await app.http.post('/api/dashboard/rooms', team.admin.token, { workspace_id: team.id })).body;
    const rooms = `/api/dashboard/rooms/${room.name}`;
    const { body } = await app.http.post(`${rooms}/recordings`, team.admin.token, {});
    recording = { id: body.recording.id, token: body.upload_token, room: rooms };
  });

  test('is set with the upload token, before or after the file, and read by those who manage the room', async () => {
    const path = `/api/recordings/${recording.id}`;
    const set = await setPoster(path, recording.token, jpeg);
    const url: string = set.body.recording.poster_url;
    expect([set.status, url]).toEqual([
      200,
      expect.stringMatching(`^${app.url}/api/dashboard/recordings/${recording.id}/poster\\?v=[0-9a-f]{8}$`),
    ]);
    expect((await uploadFile(app, recording.id, recording.token, videoForm())).status).toBe(200);
    const { recordings } = (await app.http.get('/api/dashboard/recordings', team.admin.token)).body;
    expect(recordings).toMatchObject([{ status: 'available', poster_url: url }]);
    const read = async (token: string) => (await getPoster(url, token)).status;
    const { admin, owner, member } = team;
    expect(await Promise.all([admin, owner, member].map(({ token }) => read(token)))).toEqual([200, 200, 404]);
    expect((await setPoster(path, team.member.token, webp)).status).toBe(404);
    expect((await setPoster(path, 'lnr_unknown', webp)).status).toBe(401);
    expect((await setPoster(path, team.admin.token, Buffer.from('no image'))).status).toBe(400);
    expect((await setPoster(path, team.admin.token, webp)).body.recording.poster_url).not.toBe(url);
    expect(await posters()).toHaveLength(2);
  });

  test('is copied to the library with the recording, and goes with the room', async () => {
    const path = `/api/recordings/${recording.id}`;
    await uploadFile(app, recording.id, recording.token, videoForm());
    await setPoster(path, recording.token, webp);
    const save = () => app.http.post(`/api/dashboard/recordings/${recording.id}/save-to-library`, team.admin.token, {});
    const { item } = (await save()).body;
    expect(Buffer.from(await (await getPoster(item.poster_url, team.member.token)).arrayBuffer())).toEqual(webp);
    expect(await posters()).toHaveLength(2);
    // Without its poster, the recording is saved all the same.
    faults.copy = (from, to) => (from.includes('/posters/') ? failUnavailable() : real().copy(from, to));
    const { status, body } = await save();
    expect([status, body.item.poster_url]).toEqual([200, null]);
    expect(await posters()).toHaveLength(2);
    expect((await app.http.delete(recording.room, team.admin.token)).status).toBe(200);
    await removeDiscardedObjects(app.services);
    expect(await posters()).toHaveLength(1);
  });
});
