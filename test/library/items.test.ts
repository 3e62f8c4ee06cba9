/** Library items: reading, updating, labels, deletion and download URLs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StorageUnavailableError } from '../../src/storage/object-store.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { dumpTables } from '../support/dump.ts';
import { eventsOf } from '../support/events.ts';
import { makePdf } from '../support/media.ts';
import { stagedIn, storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

const MINUTE_MS = 60_000;

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

const PDF = Uint8Array.from(makePdf({ text: 'Served' }));

async function newItem(filename = 'contract.pdf'): Promise<{ path: string; item: Record<string, unknown> }> {
  const { body } = await upload(app, team.path, team.member.token, PDF, { filename });
  return { path: `${team.path}/library/${body.item.id}`, item: body.item };
}

async function newLabel(name: string): Promise<number> {
  return (await app.http.post(`${team.path}/labels`, team.owner.token, { name })).body.label.id;
}

function patch(path: string, json?: unknown) {
  return app.http.patch(path, team.member.token, json);
}

describe('updating an item', () => {
  test('changes only the fields that are sent, and updated_at', async () => {
    const own = await startTestApp({ frozenAt: new Date('2026-01-01T00:00:00Z') });
    try {
      const { path, member } = await addTeam(own);
      const { body } = await upload(own, path, member.token);
      const item = `${path}/library/${body.item.id}`;
      own.clock.advance(MINUTE_MS);
      const named = await own.http.patch(item, member.token, { name: ' Named ' });
      const updated_at = body.item.updated_at + 60;
      expect(named.body.item).toEqual({ ...body.item, name: 'Named', updated_at });
      own.clock.advance(MINUTE_MS);
      const described = await own.http.patch(item, member.token, { description: ' with white space \n' });
      expect(described.body.item).toEqual({
        ...named.body.item,
        description: 'with white space',
        updated_at: updated_at + 60,
      });
      own.clock.advance(MINUTE_MS);
      for (const json of [undefined, {}])
        expect((await own.http.patch(item, member.token, json)).body).toEqual(described.body);
      expect((await own.http.get(item, member.token)).body).toEqual(described.body);
    } finally {
      await own.close();
    }
  });

  test.each([
    ['name', 'x'.repeat(255), 200],
    ['name', '🐈'.repeat(255), 200],
    ['name', 'x'.repeat(256), 400],
    ['name', 'a\u0000b', 400],
    ['name', 'a\ud800', 400],
    ['name', 'a\nb', 400],
    ['name', '../../etc/passwd', 200],
    ['name', 'a"b\\c;d', 200],
    ['description', '', 200],
    ['description', 'x'.repeat(5_000), 200],
    ['description', 'x'.repeat(5_001), 400],
    ['description', 'lines\r\n\tand tabs', 200],
    ['description', 'a\u0000b', 400],
    ['description', 'a\udfff', 400],
  ] as const)('%s %j', async (field, value, status) => {
    const { path, item } = await newItem();
    const answer = await patch(path, { [field]: value });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body.issues).toMatchObject([{ path: field }]);
    const read = await app.http.get(path, team.owner.token);
    expect(read.body.item[field]).toBe(status === 200 ? value : item[field]);
  });

  test('a description of null is the empty text', async () => {
    const { path } = await newItem();
    expect((await patch(path, { description: 'A report' })).body.item.description).toBe('A report');
    expect((await patch(path, { description: null })).body.item.description).toBe('');
  });

  test('never changes fields other than name and description', async () => {
    const { path, item } = await newItem();
    const { body } = await patch(path, {
      name: 'Changed',
      id: 1,
      itemId: 1,
      workspace_id: 1,
      uploaded_by: team.owner.id,
      uploadedBy: team.owner.id,
      file_key: 'x',
      fileKey: 'x',
      file_url: 'https://evil.example',
      mime_type: 'text/html',
      mimeType: 'text/html',
      size: 0,
      duration: 5,
      labels: [],
      created_at: 0,
    });
    expect(body.item).toEqual({ ...item, name: 'Changed', updated_at: body.item.updated_at });
    const served = await fetch((await app.http.get(`${path}/download`, team.member.token)).body.url);
    expect(served.headers.get('content-type')).toBe('application/pdf');
  });
});

describe('labels of an item', () => {
  test('can be assigned and removed twice without an effect', async () => {
    const { path } = await newItem();
    const [first, second] = [await newLabel('First'), await newLabel('Second')];
    for (const labelId of [second, first, second])
      expect((await app.http.post(`${path}/labels`, team.member.token, { labelId })).status).toBe(200);
    const { body } = await app.http.get(path, team.member.token);
    expect(body.item.labels.map(({ id }: { id: number }) => id)).toEqual([first, second]);
    for (let time = 0; time < 2; time += 1) {
      const answer = await app.http.delete(`${path}/labels/${first}`, team.member.token);
      expect(answer).toMatchObject({ status: 200, body: { labels: [{ id: second }] } });
    }
  });

  test('do not change updated_at', async () => {
    const { path, item } = await newItem();
    const labelId = await newLabel('No update');
    app.clock.advance(MINUTE_MS);
    await app.http.post(`${path}/labels`, team.member.token, { labelId });
    expect((await app.http.get(path, team.member.token)).body.item.updated_at).toBe(item.updated_at);
  });

  test('have their current name and color', async () => {
    const { path } = await newItem();
    const labelId = await newLabel('Old name');
    await app.http.post(`${path}/labels`, team.member.token, { labelId });
    await app.http.patch(`${team.path}/labels/${labelId}`, team.owner.token, { name: 'New name', color: '#000' });
    const { body } = await app.http.get(path, team.member.token);
    expect(body.item.labels).toEqual([{ id: labelId, name: 'New name', color: '#000' }]);
  });
});

describe('deleting an item', () => {
  test('deletes its row, its labels and its file before it answers, and emits library_item.deleted', async () => {
    const { path, item } = await newItem();
    await app.http.post(`${path}/labels`, team.member.token, { labelId: await newLabel('Goes') });
    const [before, events] = [await storedKeys(app, team.id), await eventsOf(app, team.id, 'library_item.deleted')];
    expect(await app.http.delete(path, team.admin.token)).toMatchObject({ status: 200, body: { ok: true } });
    expect(await storedKeys(app, team.id)).toHaveLength(before.length - 1);
    expect(await stagedIn(app)).toEqual([]);
    expect(await app.services.db.discardedObject.count()).toBe(0);
    expect((await app.http.get(path, team.member.token)).status).toBe(404);
    expect((await eventsOf(app, team.id, 'library_item.deleted')).slice(events.length)).toEqual([
      {
        type: 'library_item.deleted',
        data: {
          workspace_id: team.id,
          item_id: item.id,
          name: 'contract.pdf',
          mime_type: 'application/pdf',
          size: PDF.length,
          deleted_by: team.admin.id,
          deleted_by_name: team.admin.name,
        },
      },
    ]);
  });

  test('20 times at once succeeds once, with one event', async () => {
    const { path, item } = await newItem();
    const answers = await concurrently(20, () => app.http.delete(path, team.member.token));
    expect(countStatuses(answers)).toEqual({ 200: 1, 404: 19 });
    const events = await eventsOf(app, team.id, 'library_item.deleted');
    expect(events.filter(({ data }) => (data as { item_id: number }).item_id === item.id)).toHaveLength(1);
  });

  test('succeeds while the store is unavailable, and the file is to be deleted later', async () => {
    let isUnavailable = false;
    const own = await startTestApp({
      wrapStore: (store) => ({
        ...store,
        remove: (key, options) =>
          isUnavailable ? Promise.reject(new StorageUnavailableError('down', null)) : store.remove(key, options),
      }),
    });
    try {
      const { path, member } = await addTeam(own);
      const { body } = await upload(own, path, member.token);
      isUnavailable = true;
      const item = `${path}/library/${body.item.id}`;
      expect((await own.http.delete(item, member.token)).status).toBe(200);
      expect((await own.http.get(item, member.token)).status).toBe(404);
      expect(await own.services.db.discardedObject.count()).toBe(1);
    } finally {
      await own.close();
    }
  });
});

describe('the download URL', () => {
  const urlOf = async (path: string): Promise<URL> =>
    new URL((await app.http.get(`${path}/download`, team.member.token)).body.url);

  test('serves the bytes as an attachment with a fixed type, without authentication', async () => {
    const { path } = await newItem();
    await patch(path, { name: 'Vertrag "2026" ä.pdf' });
    const url = await urlOf(path);
    expect(url.origin).toBe(app.url);
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(PDF);
    expect(response.headers.get('content-type')).toBe('application/pdf');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-disposition')).toMatch(
      /^attachment; .*filename\*=UTF-8''Vertrag%20_2026_%20%C3%A4\.pdf$/,
    );
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(PDF.length)]);
    const part = await fetch(url, { headers: { range: 'bytes=0-3' } });
    expect([part.status, await part.text()]).toEqual([206, '%PDF']);
  });

  test('works for 15 minutes: after 14:59, not after 15:01', async () => {
    const { path } = await newItem();
    const { body } = await app.http.get(`${path}/download`, team.member.token);
    app.clock.advance(15 * MINUTE_MS - 1_500);
    expect((await fetch(body.url)).status).toBe(200);
    app.clock.advance(2_500);
    const late = await app.http.call('GET', body.url.slice(app.url.length));
    expect([late.status, late.body.message]).toEqual([403, 'Forbidden']);
    expect((await fetch(await urlOf(path))).status).toBe(200);
  });

  test('fails with 403 if any part of it is changed', async () => {
    const { path } = await newItem();
    const url = await urlOf(path);
    const other = await urlOf((await newItem()).path);
    const changed = ['expires', 'filename', 'type', 'signature'].map((name) => {
      const copy = new URL(url);
      const value = copy.searchParams.get(name) ?? '';
      copy.searchParams.set(name, name === 'expires' ? String(Number(value) + 1) : `${value}x`);
      return copy;
    });
    const missing = ['expires', 'filename', 'type', 'signature'].map((name) => {
      const copy = new URL(url);
      copy.searchParams.delete(name);
      return copy;
    });
    const more = new URL(url);
    more.searchParams.set('response-content-type', 'text/html');
    const swapped = new URL(other.pathname + url.search, url);
    for (const wrong of [...changed, ...missing, more, swapped]) {
      const answer = await app.http.call('GET', wrong.pathname + wrong.search);
      expect([answer.status, answer.body.message]).toEqual([403, 'Forbidden']);
    }
    expect((await fetch(url)).status).toBe(200);
    expect((await app.http.call('DELETE', url.pathname + url.search)).status).toBe(405);
  });

  test('starts with PUBLIC_URL if it is set', async () => {
    const own = await startTestApp({ settings: { publicUrl: 'https://files.example' } });
    try {
      const { path, member } = await addTeam(own);
      const { body } = await upload(own, path, member.token);
      const download = await own.http.get(`${path}/library/${body.item.id}/download`, member.token);
      expect(new URL(download.body.url).origin).toBe('https://files.example');
    } finally {
      await own.close();
    }
  });

  test('is created without a write, and other answers never contain the file key', async () => {
    const { path } = await newItem();
    const before = await dumpTables(app);
    const key = (await urlOf(path)).pathname.split('/').at(-1) ?? '';
    expect(await dumpTables(app)).toEqual(before);
    expect(key.length).toBeGreaterThan(10);
    for (const target of [path, `${team.path}/library?limit=100`])
      expect(JSON.stringify((await app.http.get(target, team.member.token)).body)).not.toContain(key);
  });
});
