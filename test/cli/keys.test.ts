/** `lynxroom keys` and `lynxroom doctor` before, during and after a rotation of ENCRYPTION_KEY. */
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEncryptionKey, createSealer } from '../../src/core/sealing.ts';
import { resealSecrets } from '../../src/key-rotation/reseal.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam } from '../support/world.ts';
import { type CommandLine, createCommandLine } from './command-line.ts';

const [oldKey, newKey] = [createEncryptionKey(), createEncryptionKey()];
const both = createSealer(newKey, oldKey);
const [newId, oldId] = both.keyIds;

let app: TestApp;
let home: string;
let cli: CommandLine;
let env: Record<string, string>;
beforeAll(async () => {
  app = await startTestApp({ sealer: createSealer(oldKey) });
  home = await makeTempDir();
  cli = createCommandLine(home);
  env = { DATABASE_URL: app.databaseUrl, DATA_DIR: dirname(app.filesDir) };
  const { path, owner } = await addTeam(app);
  const webhook = { name: 'Chat', url: 'https://example.com/hook', events: ['room.created'] };
  await app.http.post(`${path}/webhooks`, owner.token, webhook);
});
afterAll(async () => {
  await app.close();
  await rm(home, { recursive: true, force: true });
});

function text(key: Uint8Array): string {
  return Buffer.from(key).toString('base64');
}

async function keys(settings: Record<string, string>) {
  const { status, stdout } = await cli.run(['keys'], { env: { ...env, ...settings } });
  return { status, stdout };
}

async function doctor(settings: Record<string, string>): Promise<string | undefined> {
  const { stdout } = await cli.run(['doctor', '--json'], { env: { ...env, ...settings } });
  const { findings }: { findings: { check: string; detail: string }[] } = JSON.parse(stdout);
  return findings.find(({ check }) => check === 'keys')?.detail;
}

test('a missing key is named, with what it has sealed', async () => {
  const { status, stdout } = await keys({ ENCRYPTION_KEY: text(newKey) });
  expect(status).toBe(1);
  expect(stdout).toContain(`newest key ${newId}: nothing`);
  expect(stdout).toContain(`unknown key ${oldId}: 1 × webhook secret`);
  expect(stdout).toContain(`The key ${oldId} is not configured, so its data cannot be opened`);
  expect(await doctor({ ENCRYPTION_KEY: text(newKey) })).toBe(
    `A webhook secret is sealed with the key ${oldId}: list that key in ENCRYPTION_KEY_PREVIOUS`,
  );
});

test('the previous key can be removed once nothing is sealed with it', async () => {
  const settings = { ENCRYPTION_KEY: text(newKey), ENCRYPTION_KEY_PREVIOUS: text(oldKey) };
  const during = await keys(settings);
  expect(during.status).toBe(0);
  expect(during.stdout).toContain(`previous key ${oldId}: 1 × webhook secret`);
  expect(during.stdout).not.toContain('can be removed');
  expect(await doctor(settings)).toContain('More than one key is configured');
  await resealSecrets({ ...app.services, sealer: both });
  const after = await keys(settings);
  expect(after.stdout).toContain(`newest key ${newId}: 1 × webhook secret`);
  expect(after.stdout).toContain(`Nothing is sealed with the previous key ${oldId}: it can be removed.`);
  expect(await doctor({ ENCRYPTION_KEY: text(newKey) })).toBe('The key opens the stored secrets');
});

test('a file can have several keys, one a line', async () => {
  const dataDir = join(home, 'data');
  const settings = { DATA_DIR: home };
  await writeFile(join(home, 'encryption-key'), `${text(newKey)}\n${text(oldKey)}\n`);
  const { stdout } = await keys(settings);
  expect(stdout).toContain(`newest key ${newId}`);
  expect(stdout).toContain(`previous key ${oldId}`);
  await writeFile(join(home, 'encryption-key'), `${text(newKey)}\nnot a key\n`);
  const broken = await cli.run(['keys'], { env: { ...env, ...settings } });
  expect([broken.status, broken.stderr]).toEqual([1, expect.stringContaining('is not an encryption key')]);
  const missing = await cli.run(['keys'], { env: { ...env, DATA_DIR: dataDir } });
  expect([missing.status, missing.stderr]).toEqual([1, expect.stringContaining('The encryption key is missing')]);
});

test.each([
  [{ ENCRYPTION_KEY_PREVIOUS: 'short' }, 'ENCRYPTION_KEY_PREVIOUS must be a comma-separated list of keys'],
  [{ SIGNING_SECRET_PREVIOUS: 'short' }, 'SIGNING_SECRET_PREVIOUS must be a comma-separated list of secrets'],
])('a wrong setting is refused, and named: %j', async (settings, message) => {
  const { status, stderr } = await cli.run(['keys'], { env: { ...env, ...settings } });
  expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
});
