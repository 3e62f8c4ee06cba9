/** A backup from before a rotation of ENCRYPTION_KEY, restored after it. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkBackup } from '../../src/backup/check-backup.ts';
import { restoreBackup } from '../../src/backup/restore-backup.ts';
import { writeBackup } from '../../src/backup/write-backup.ts';
import { createEncryptionKey, createSealer, type Sealer } from '../../src/core/sealing.ts';
import { openDatabase } from '../../src/db/client.ts';
import { resealSecrets } from '../../src/key-rotation/reseal.ts';
import { quietLog } from '../support/quiet-log.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase, startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam } from '../support/world.ts';

const [oldKey, newKey] = [createEncryptionKey(), createEncryptionKey()];

let app: TestApp;
let dir: string;
beforeAll(async () => {
  app = await startTestApp({ sealer: createSealer(oldKey) });
  dir = await makeTempDir();
});
afterAll(async () => {
  await app.close();
  await rm(dir, { recursive: true, force: true });
});

test('its secrets open with the old key, and are sealed again if that key is listed', async () => {
  const { id, path, owner } = await addTeam(app);
  const webhook = { name: 'Chat', url: 'https://example.com/hook', events: ['room.created'] };
  const { secret } = (await app.http.post(`${path}/webhooks`, owner.token, webhook)).body.webhook;
  const from = join(dir, 'backup');
  const common = { filesRoot: app.filesDir, log: quietLog, signal: new AbortController().signal, onStep: () => {} };
  await writeBackup({ ...common, connectionString: app.databaseUrl, to: from });
  const target = await createDatabase();
  const options = { ...common, filesRoot: join(dir, 'files'), connectionString: target.url, from, replace: true };
  await restoreBackup(options, await checkBackup(from, common.signal));
  const db = openDatabase({ connectionString: target.url, poolSize: 2, onError: () => {} });
  try {
    const readSecret = async (sealer: Sealer): Promise<string> => {
      const { sealedSecret } = await db.webhook.findFirstOrThrow();
      return sealer.open(sealedSecret, { workspaceId: id, purpose: 'webhook secret' });
    };
    await expect(readSecret(createSealer(newKey))).rejects.toThrow('neither ENCRYPTION_KEY nor');
    expect(await readSecret(createSealer(newKey, oldKey))).toBe(secret);
    expect((await resealSecrets({ db, sealer: createSealer(newKey, oldKey), log: quietLog })).failed).toBe(0);
    expect(await readSecret(createSealer(newKey))).toBe(secret);
  } finally {
    await db.$disconnect();
    await target.drop();
  }
});
