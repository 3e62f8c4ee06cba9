/** Where the encryption key comes from: the environment, else a file in the data directory. */
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createEncryptionKey, readEncryptionKey } from '../../src/core/sealing.ts';
import { readConfig } from '../../src/runtime/config.ts';
import { loadOrCreateSecret } from '../../src/runtime/secret-file.ts';
import { type RunningServer, startServer } from '../../src/runtime/start.ts';
import { concurrently } from '../support/concurrently.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase } from '../support/test-app.ts';

function newKey(): string {
  return Buffer.from(createEncryptionKey()).toString('base64');
}
const context = { workspaceId: 1, purpose: 'webhook secret' } as const;

let dataDir: string;
let database: Awaited<ReturnType<typeof createDatabase>>;
beforeEach(async () => {
  [dataDir, database] = await Promise.all([makeTempDir(), createDatabase()]);
});
afterEach(async () => {
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

type Started = { service: RunningServer; lines: { level: number; msg: string }[]; text: string };

/** Starts the service on the test's database, runs `work` and stops the service. */
async function withService(
  env: Record<string, string>,
  work: (started: Started) => void | Promise<void>,
): Promise<void> {
  const written: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => written.push(line) });
  const config = readConfig({ DATA_DIR: dataDir, DATABASE_URL: database.url, PORT: '0', ...env });
  const service = await startServer(config, logger);
  try {
    const text = written.join('');
    await work({ service, lines: written.map((line) => JSON.parse(line)), text });
  } finally {
    await service.stop();
  }
}

function isWarning({ level, msg }: { level: number; msg: string }): boolean {
  return level === 40 && msg.startsWith('ENCRYPTION_KEY is not set');
}

test('a key in the environment is used: nothing is written, and there is no warning', async () => {
  const env = { ENCRYPTION_KEY: newKey() };
  let sealed = new Uint8Array();
  await withService(env, async ({ service, lines, text }) => {
    sealed = service.services.sealer.seal('secret', context);
    expect(lines.filter(isWarning)).toEqual([]);
    expect(text).not.toContain(env.ENCRYPTION_KEY);
    expect(await readdir(dataDir)).not.toContain('encryption-key');
  });
  await withService(env, ({ service }) => expect(service.services.sealer.open(sealed, context)).toBe('secret'));
  await withService({ ENCRYPTION_KEY: newKey() }, ({ service }) =>
    expect(() => service.services.sealer.open(sealed, context)).toThrow('Failed to open'),
  );
});

test('without ENCRYPTION_KEY a key is created for the owner only, with a warning on an external database', async () => {
  const path = join(dataDir, 'encryption-key');
  let sealed = new Uint8Array();
  await withService({}, async ({ service, lines, text }) => {
    sealed = service.services.sealer.seal('secret', context);
    expect(lines.filter(isWarning)).toMatchObject([{ path }]);
    const stored = await readFile(path, 'utf8');
    expect(readEncryptionKey(stored)).not.toBeNull();
    expect(text).not.toContain(stored);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });
  await withService({}, ({ service, lines }) => {
    expect(service.services.sealer.open(sealed, context)).toBe('secret');
    expect(lines.filter(isWarning).length).toBe(1);
  });
});

test('the start fails with an instruction if the file has no valid key', async () => {
  await writeFile(join(dataDir, 'encryption-key'), 'half a k');
  await expect(withService({}, () => {})).rejects.toThrow(
    /encryption-key is not an encryption key: restore it, or set ENCRYPTION_KEY$/,
  );
  expect(await readFile(join(dataDir, 'encryption-key'), 'utf8')).toBe('half a k');
});

test('the start fails with an instruction if the key cannot be stored', async () => {
  const file = join(dataDir, 'file');
  await writeFile(file, '');
  const belowFile = join(file, 'below');
  const env = { DATA_DIR: belowFile, SIGNING_SECRET: 'a secret for tests only', S3_BUCKET: 'bucket' };
  await expect(withService(env, () => {})).rejects.toThrow(/cannot be read or stored: set ENCRYPTION_KEY$/);
});

test('a line end after the key in the file is allowed', async () => {
  await writeFile(join(dataDir, 'encryption-key'), `${newKey()}\n`);
  await withService({}, ({ service }) => {
    const { sealer } = service.services;
    expect(sealer.open(sealer.seal('secret', context), context)).toBe('secret');
  });
});

describe('ENCRYPTION_KEY', () => {
  test.each(['secret', 'A'.repeat(44), Buffer.alloc(31).toString('base64'), Buffer.alloc(32).toString('hex')])(
    '%s is refused, and not repeated in the error',
    (value) => {
      const read = () => readConfig({ ENCRYPTION_KEY: value });
      expect(read).toThrow(
        'ENCRYPTION_KEY must be 32 bytes in base64, such as the output of `openssl rand -base64 32`',
      );
      expect(read).not.toThrow(value);
    },
  );

  test('empty counts as not set', () => {
    expect(readConfig({ ENCRYPTION_KEY: '' }).ENCRYPTION_KEY).toBeUndefined();
  });
});

test('20 calls that create a secret at once return the same one, and leave no temporary file', async () => {
  let created = 0;
  const create = () => {
    created += 1;
    return `secret ${created}`;
  };
  const secrets = await concurrently(20, () => loadOrCreateSecret(join(dataDir, 'new'), 'name', create));
  expect(created).toBeGreaterThan(1);
  expect(new Set(secrets).size).toBe(1);
  expect(await readdir(join(dataDir, 'new'))).toEqual(['name']);
  expect(await loadOrCreateSecret(join(dataDir, 'new'), 'name', create)).toBe(secrets[0]);
});
