/** Rotating ENCRYPTION_KEY while requests and deliveries run. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEncryptionKey, createSealer, keyIdOf, type SealPurpose } from '../../src/core/sealing.ts';
import { connect } from '../../src/db/connect.ts';
import { countByKey } from '../../src/key-rotation/count-by-key.ts';
import { resealSecrets } from '../../src/key-rotation/reseal.ts';
import { listSealedColumns } from '../../src/key-rotation/sealed-columns.ts';
import { createWorld, type Scene } from '../contract/scene.ts';
import { startTestDelivery } from '../support/delivery.ts';
import { dumpTables } from '../support/dump.ts';
import { quietLog } from '../support/quiet-log.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam } from '../support/world.ts';

const [oldKey, newKey] = [createEncryptionKey(), createEncryptionKey()];
const [oldSealer, bothSealer, newSealer] = [createSealer(oldKey), createSealer(newKey, oldKey), createSealer(newKey)];
const [newId = '', oldId = ''] = bothSealer.keyIds;

/** One app for each state of the settings, on one database. */
let before: TestApp;
let during: TestApp;
let after: TestApp;
let scene: Scene;
let receiver: Receiver;
beforeAll(async () => {
  before = await startTestApp({ sealer: oldSealer });
  const shared = { sharedDatabase: before };
  [during, after] = await Promise.all([
    startTestApp({ ...shared, sealer: bothSealer }),
    startTestApp({ ...shared, sealer: newSealer }),
  ]);
  scene = await (await createWorld(before)).addScene();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  for (const app of [after, during, before]) await app.close();
});

async function counts() {
  const client = await connect(before.databaseUrl, 'test', quietLog);
  return countByKey(client).finally(() => client.end());
}

function keyIdsOf(list: Awaited<ReturnType<typeof counts>>): string[] {
  return [...new Set(list.map(({ keyId }) => String(keyId)))].sort();
}

test('every column with sealed bytes is known', async () => {
  const known = listSealedColumns().map(({ table, column }) => `${table}.${column}`);
  const rows = await before.services.db.$queryRaw<{ name: string }[]>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and data_type = 'bytea' order by 1`;
  const notSealed = /(?:hash|sha256|fingerprint|salt|_handle|_key|credential_id|head)$/;
  const sealed = rows.map(({ name }) => name).filter((name) => !notSealed.test(name));
  expect(sealed).toEqual([...known].sort());
});

test('secrets are sealed again while requests and deliveries run, and nothing is lost', async () => {
  const team = await addTeam(before);
  const { path, owner } = team;
  const webhook = { name: 'Chat', url: receiver.url, events: ['room.created'] };
  const { secret } = (await before.http.post(`${path}/webhooks`, owner.token, webhook)).body.webhook;
  const delivery = await startTestDelivery(during);
  try {
    let isDone = false;
    let rooms = 0;
    const errors: unknown[] = [];
    const work = async (app: TestApp): Promise<void> => {
      while (!isDone) {
        const { status, body } = await app.http.post('/api/dashboard/rooms', owner.token, { workspace_id: team.id });
        if (status !== 201) errors.push(body);
        rooms += 1;
        const joined = await app.http.post(`/api/rooms/${body.room?.name}/join`, owner.token, {});
        if (joined.status >= 300) errors.push(joined.body);
        await app.http.post(`${path}/webhooks`, owner.token, { ...webhook, url: 'https://example.com/hook' });
      }
    };
    // A rolling restart: some servers know both keys, and some only list the new one behind the old one.
    const other = await startTestApp({ sharedDatabase: before, sealer: createSealer(oldKey, newKey) });
    const workers = [work(during), work(during), work(other)];
    const passes = [];
    for (let pass = 0; pass < 5; pass += 1) passes.push(await resealSecrets(during.services));
    isDone = true;
    await Promise.all(workers);
    await other.close();
    expect(errors).toEqual([]);
    expect(passes.map(({ failed }) => failed)).toEqual([0, 0, 0, 0, 0]);
    expect(passes[0]?.resealed).toBeGreaterThan(5);
    const requests = await receiver.waitFor(rooms);
    for (const { headers, body } of requests)
      expect(headers['x-webhook-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'));
  } finally {
    await delivery.stop();
  }
  await resealSecrets(during.services);
  expect(keyIdsOf(await counts())).toEqual([newId]);
});

test('afterwards the new key alone opens everything', async () => {
  await resealSecrets(during.services);
  const dumped = await dumpTables(after);
  for (const one of listSealedColumns()) {
    const context = one.owner ? null : one.purpose;
    // `as`: the rows of any table.
    const rows = (dumped as Record<string, Record<string, unknown>[]>)[one.table] ?? [];
    for (const row of rows) {
      const text = row[one.column];
      if (typeof text !== 'string' || context === null) continue;
      const sealed = Buffer.from(text.replace('\\x', ''), 'hex');
      const opened = newSealer.open(sealed, { workspaceId: Number(row.workspace_id), purpose: context as SealPurpose });
      expect(opened, `${one.table}.${one.column}`).not.toBe('');
    }
  }
  const invite = await after.http.post(`/api/workspaces/${scene.workspaceId}/invite`, scene.owner.token);
  expect(invite.body.token).toBe(scene.inviteToken);
  const path = `/api/workspaces/${scene.workspaceId}/webhooks/${scene.webhookId}/test`;
  expect((await after.http.post(path, scene.owner.token)).status).toBeLessThan(300);
});

test('a retry after the rotation gets the stored answer, and another request is still refused', async () => {
  const team = await addTeam(before);
  const headers = { 'idempotency-key': 'across-a-rotation' };
  const create = (app: TestApp, name: string) =>
    app.http.call('POST', '/api/dashboard/rooms', {
      token: team.owner.token,
      headers,
      json: { workspace_id: team.id, name },
    });
  const first = await create(before, `first-${team.id}`);
  expect((await create(during, `first-${team.id}`)).body).toEqual(first.body);
  expect((await create(during, `other-${team.id}`)).body).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
  await resealSecrets(during.services);
  expect((await create(during, `first-${team.id}`)).body).toEqual(first.body);
});

test('what no configured key opens stays as it is, is reported, and does not stop the rest', async () => {
  const lost = createSealer(createEncryptionKey());
  const team = await addTeam(before);
  const webhook = { name: 'Chat', url: 'https://example.com/hook', events: ['room.created'] };
  const { id } = (await before.http.post(`${team.path}/webhooks`, team.owner.token, webhook)).body.webhook;
  const { id: other } = (await before.http.post(`${team.path}/webhooks`, team.owner.token, webhook)).body.webhook;
  const sealed = lost.seal('whsec_lost', { workspaceId: team.id, purpose: 'webhook secret' });
  await before.services.db.webhook.updateMany({ where: { id }, data: { sealedSecret: sealed } });
  const { failed } = await resealSecrets(during.services);
  expect(failed).toBe(1);
  expect(during.logLines).toContainEqual(
    expect.objectContaining({
      msg: 'Some sealed values cannot be opened: list their key in ENCRYPTION_KEY_PREVIOUS',
      table: 'webhooks',
      purpose: 'webhook secret',
      count: 1,
      reason: expect.stringContaining(`the key ${lost.keyIds[0]}`),
    }),
  );
  const rows = await before.services.db.webhook.findMany({
    where: { id: { in: [id, other] } },
    orderBy: { id: 'asc' },
  });
  expect(rows.map(({ sealedSecret }) => keyIdOf(sealedSecret))).toEqual([lost.keyIds[0], newId]);
  expect(await counts()).toContainEqual({ purpose: 'webhook secret', keyId: lost.keyIds[0], count: 1 });
  await before.services.db.webhook.deleteMany({ where: { id } });
});

test('a callback that waits is sealed again, also if another one cannot be opened', async () => {
  const { db } = before.services;
  const { workspaceId, connectionId } = scene;
  const context = { workspaceId, purpose: 'recording link' } as const;
  const url = Buffer.from(oldSealer.seal('https://example.com/a.mp4', context)).toString('base64');
  const facts = [{ kind: 'recording.available', archiveId: 'a', file: { url } }];
  const key = { workspaceId, connectionId, dedupeKey: 'waiting' };
  await db.ingestEvent.create({ data: { ...key, facts, receivedAt: before.clock.now() } });
  const lost = Buffer.from(createSealer(createEncryptionKey()).seal('https://example.com/b.mp4', context));
  const lostFacts = [{ kind: 'recording.available', archiveId: 'b', file: { url: lost.toString('base64') } }];
  const other = { ...key, dedupeKey: 'lost', facts: lostFacts, receivedAt: before.clock.now() };
  await db.ingestEvent.create({ data: other });
  expect(keyIdsOf(await counts())).toContain(oldId);
  expect((await resealSecrets(during.services)).failed).toBe(1);
  await db.ingestEvent.deleteMany({ where: { dedupeKey: 'lost' } });
  const row = await db.ingestEvent.findFirstOrThrow({ where: { dedupeKey: 'waiting' } });
  // `as`: the column is JSON.
  const [event] = row.facts as { file: { url: string } }[];
  expect(newSealer.open(Buffer.from(event?.file.url ?? '', 'base64'), context)).toBe('https://example.com/a.mp4');
  expect(keyIdsOf(await counts())).toEqual([newId]);
});

test('with one key, nothing is read or changed', async () => {
  expect(await resealSecrets(after.services)).toEqual({ resealed: 0, failed: 0 });
});
