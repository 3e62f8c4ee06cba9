/** The trash: what lies there is gone for everything else, counts for the quotas, and comes back as it was. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import { sweepRetention } from '../../src/features/retention/sweep-retention.ts';
import { pruneTrash } from '../../src/features/trash/delete-entries.ts';
import { StorageUnavailableError } from '../../src/storage/object-store.ts';
import { sweepStorage } from '../../src/storage/sweep.ts';
import { auditOf, lastAuditId } from '../support/audit.ts';
import { concurrently } from '../support/concurrently.ts';
import { eventsOf } from '../support/events.ts';
import { jpeg } from '../support/images.ts';
import { storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, PASSWORD, type Team, upload } from '../support/world.ts';

let app: TestApp;
let isCopyRefused = false;

beforeAll(async () => {
  app = await startTestApp({
    wrapStore: (store) => ({
      ...store,
      copy: async (from, to) => {
        if (isCopyRefused) throw new StorageUnavailableError('down', new Error('down'));
        await store.copy(from, to);
      },
    }),
  });
});
afterAll(() => app.close());

const add = async (team: Team): Promise<number> => (await upload(app, team.path, team.member.token)).body.item.id;
const move = (team: Team, ...item_ids: number[]) =>
  app.http.post(`${team.path}/trash/items`, team.member.token, { item_ids });
const restore = (team: Team, ...entry_ids: number[]) =>
  app.http.post(`${team.path}/trash/restore`, team.member.token, { entry_ids });
const list = async (team: Team) => (await app.http.get(`${team.path}/trash`, team.member.token)).body.entries;
const read = (team: Team, itemId: number) => app.http.get(`${team.path}/library/${itemId}`, team.member.token);
const usageOf = async (team: Team) => {
  const { items, bytes } = (await app.http.get(`${team.path}/usage`, team.owner.token)).body.usage;
  return [items.used, bytes.used];
};
const typesOf = async (team: Team) =>
  (await eventsOf(app, team.id)).map(({ type }) => type).filter((type) => type.startsWith('library_item.'));

test('an item in the trash is gone from everything else, and comes back as it was', async () => {
  const team = await addTeam(app);
  const { token } = team.member;
  const itemId = await add(team);
  const otherId = await add(team);
  const path = `${team.path}/library/${itemId}`;
  const label = async (name: string): Promise<number> => {
    const { id } = (await app.http.post(`${team.path}/labels`, team.owner.token, { name })).body.label;
    await app.http.post(`${path}/labels`, token, { labelId: id });
    return id;
  };
  await label('Contracts');
  const deletedLabel = await label('Old');
  await fetch(`${app.url}${path}/poster`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'image/jpeg' },
    body: new Uint8Array(jpeg),
  });
  const { item } = (await read(team, itemId)).body;
  const { url } = (await app.http.get(`${path}/download`, token)).body;
  const bytes = await (await fetch(url)).text();
  const used = await usageOf(team);
  const keys = await storedKeys(app, team.id);

  const { status, body } = await move(team, itemId, 2_000_000_000);
  expect([status, body.not_found]).toEqual([200, [2_000_000_000]]);
  const [entry] = body.entries;
  expect(entry).toMatchObject({
    kind: 'library_item',
    resource_id: itemId,
    name: item.name,
    size: item.size,
    created_at: item.created_at,
    trashed_by: team.member.id,
    trashed_by_name: team.member.name,
    expires_at: entry.trashed_at + 30 * 86_400,
  });
  expect(await list(team)).toEqual([entry]);

  for (const gone of [path, `${path}/download`, `${path}/file`, `${path}/poster`])
    expect((await app.http.get(gone, token)).status, gone).toBe(404);
  expect((await app.http.patch(path, token, { name: 'Other.pdf' })).status).toBe(404);
  expect((await app.http.delete(path, token)).status).toBe(404);
  expect((await fetch(url)).status).toBe(404);
  for (const query of ['', '?search=contract', '?sort=name', `?label=${deletedLabel}`]) {
    const { items, total } = (await app.http.get(`${team.path}/library${query}`, token)).body;
    const rest = query.includes('label') ? [] : [otherId];
    expect([items.map(({ id }: { id: number }) => id), total], query).toEqual([rest, rest.length]);
  }
  const found = (await app.http.get(`${team.path}/search?search=contract`, token)).body.items;
  expect(found.map(({ id }: { id: number }) => id)).toEqual([otherId]);
  // Only the quotas still count it, and the store still has as many files.
  expect(await usageOf(team)).toEqual(used);
  expect(await storedKeys(app, team.id)).toHaveLength(keys.length);
  app.clock.advance(2 * DAY_MS);
  expect(await sweepStorage(app.services)).toMatchObject({ orphans: 0, rowsWithoutObject: 0 });

  await app.http.delete(`${team.path}/labels/${deletedLabel}`, team.owner.token);
  expect((await restore(team, entry.id, 2_000_000_000)).body).toEqual({ entries: [entry], not_found: [2_000_000_000] });
  expect(await list(team)).toEqual([]);
  const { item: restored } = (await read(team, itemId)).body;
  expect(restored).toEqual({
    ...item,
    labels: item.labels.filter(({ id }: { id: number }) => id !== deletedLabel),
    poster_url: expect.stringContaining(`${path}/poster?v=`),
  });
  const download = (await app.http.get(`${path}/download`, token)).body;
  expect(await (await fetch(download.url)).text()).toBe(bytes);
  expect((await app.http.get(`${path}/poster`, token)).status).toBe(200);
  expect((await app.http.get(`${team.path}/library`, token)).body.total).toBe(2);
  expect(await usageOf(team)).toEqual(used);
  expect(await typesOf(team)).toEqual([
    ...['library_item.uploaded', 'library_item.uploaded'],
    ...['library_item.updated', 'library_item.deleted', 'library_item.uploaded'],
  ]);
});

test('emptying deletes the files for good, emits nothing, and leaves the rest', async () => {
  const team = await addTeam(app);
  const ids = [await add(team), await add(team), await add(team)];
  const after = await lastAuditId(app);
  const { entries } = (await move(team, ...ids)).body;
  const events = await typesOf(team);
  const remove = (entryId: number) => app.http.delete(`${team.path}/trash/${entryId}`, team.member.token);
  expect((await remove(entries[0].id)).body).toEqual({ ok: true });
  expect((await remove(entries[0].id)).body.error).toBe('Trash entry not found');
  expect(await storedKeys(app, team.id)).toHaveLength(2);
  expect((await restore(team, entries[2].id)).status).toBe(200);
  expect((await app.http.delete(`${team.path}/trash`, team.member.token)).body).toEqual({ deleted: 1 });
  expect((await app.http.delete(`${team.path}/trash`, team.member.token)).body).toEqual({ deleted: 0 });
  await sweepStorage(app.services);
  expect(await storedKeys(app, team.id)).toHaveLength(1);
  expect((await usageOf(team))[0]).toBe(1);
  expect(await typesOf(team)).toEqual([...events, 'library_item.uploaded']);
  const recorded = (await auditOf(app, team.id, after)).map(({ action, target }) => [action, target[1]]);
  expect(recorded).toEqual([
    ...ids.map((id) => ['library_item.trashed', id]),
    ['library_item.deleted', ids[0]],
    ['library_item.restored', ids[2]],
    ['trash.emptied', null],
  ]);
});

test('of concurrent moves and restores each is done once, and the counts stay exact', async () => {
  const team = await addTeam(app);
  const ids = [await add(team), await add(team), await add(team)];
  const used = await usageOf(team);
  const moves = await concurrently(4, () => move(team, ...ids));
  expect(moves.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const entries = moves.flatMap(({ body }) => body.entries);
  expect(entries.map(({ resource_id }) => resource_id).sort()).toEqual([...ids].sort());
  expect(await storedKeys(app, team.id)).toHaveLength(3);
  const restores = await concurrently(4, () => restore(team, ...entries.map(({ id }) => id)));
  expect(restores.flatMap(({ body }) => body.entries)).toHaveLength(3);
  expect(await usageOf(team)).toEqual(used);
  expect((await app.http.get(`${team.path}/library`, team.member.token)).body.total).toBe(3);
  expect((await typesOf(team)).filter((type) => type === 'library_item.deleted')).toHaveLength(3);
});

test('a store that cannot copy leaves the item where it is, and no copies', async () => {
  const team = await addTeam(app);
  const itemId = await add(team);
  isCopyRefused = true;
  const { status, body } = await move(team, itemId);
  isCopyRefused = false;
  expect([status, body.error]).toEqual([500, 'Storage service unavailable']);
  expect((await read(team, itemId)).status).toBe(200);
  expect(await storedKeys(app, team.id)).toHaveLength(1);
});

test('what has lain in the trash for 30 days is deleted for good', async () => {
  const team = await addTeam(app);
  const [first, second] = [await add(team), await add(team)];
  await move(team, first);
  app.clock.advance(DAY_MS);
  await move(team, second);
  app.clock.advance(29 * DAY_MS - HOUR_MS);
  // The sessions have ended by then.
  const stored = () => app.services.db.trashEntry.findMany({ where: { workspaceId: team.id } });
  await pruneTrash(app.services);
  expect(await stored()).toHaveLength(2);
  app.clock.advance(2 * HOUR_MS);
  await pruneTrash(app.services);
  expect((await stored()).map(({ resourceId }) => resourceId)).toEqual([second]);
  expect(await storedKeys(app, team.id)).toHaveLength(1);
  expect((await auditOf(app, team.id)).at(-1)).toMatchObject({
    actor: ['system', null, null],
    action: 'trash.expired',
  });
});

test('a retention policy deletes from the trash too, by the age of the item, and emits nothing for it', async () => {
  const team = await addTeam(app);
  await app.http.patch(`${team.path}/retention`, team.owner.token, { media_retention_days: 7 });
  const old = await add(team);
  app.clock.advance(6 * DAY_MS);
  const recent = await add(team);
  await move(team, old, recent);
  const events = await typesOf(team);
  app.clock.advance(2 * DAY_MS);
  const preview = await app.http.get(`${team.path}/retention/preview?days=7`, team.owner.token);
  expect(preview.body.count).toBe(1);
  expect(await sweepRetention(app.services)).toBe(1);
  expect((await list(team)).map(({ resource_id }: { resource_id: number }) => resource_id)).toEqual([recent]);
  expect(await typesOf(team)).toEqual(events);
  expect((await auditOf(app, team.id)).at(-1)).toMatchObject({
    action: 'library_item.expired',
    details: { before: { count: 1, ids: [old] } },
  });
});

test('an item whose uploader has deleted the account comes back without an uploader', async () => {
  const team = await addTeam(app);
  const { item } = (await upload(app, team.path, team.admin.token)).body;
  const { entries } = (await move(team, item.id)).body;
  const deleted = await app.http.call('DELETE', '/api/auth/me', {
    token: team.admin.token,
    json: { password: PASSWORD },
  });
  expect(deleted.status).toBe(200);
  expect((await restore(team, entries[0].id)).status).toBe(200);
  expect((await read(team, item.id)).body.item).toMatchObject({ uploaded_by: null, name: item.name });
});

test('every column of an item is restored', async () => {
  const columns = await app.services.db.$queryRaw<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_schema = 'public' and table_name = 'library_items' and is_generated = 'NEVER' order by 1`;
  // A new column needs a place in the statement `put-back-items`, and a value for what lay in the trash before it.
  expect(columns.map(({ name }) => name)).toEqual([
    ...['created_at', 'description', 'duration', 'file_key', 'id', 'mime_type', 'name', 'poster_key', 'sha256'],
    ...['size', 'updated_at', 'uploaded_by', 'workspace_id'],
  ]);
});
