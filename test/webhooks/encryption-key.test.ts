/** Where the key of what is sealed comes from: the environment, else a file in the data folder. */
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

/** Starts the service on the test's database, gives it to `work` and stops it. */
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

test('one of the environment is used, and nothing is written or warned of', async () => {
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

test('without one, it is made once and kept for the owner alone; on a database of one\u2019s own with a warning', async () => {
  const path = join(dataDir, 'encryption-key');
  let sealed = new Uint8Array();
  await withService({}, async ({ service, lines, text }) => {
    sealed = service.services.sealer.seal('secret', context);
    expect(lines.filter(isWarning)).toMatchObject([{ path }]);
    const kept = await readFile(path, 'utf8');
    expect(readEncryptionKey(kept)).not.toBeNull();
    expect(text).not.toContain(kept);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });
  await withService({}, ({ service, lines }) => {
    expect(service.services.sealer.open(sealed, context)).toBe('secret');
    expect(lines.filter(isWarning).length).toBe(1);
  });
});

test('a file that holds no key, and a folder that cannot be written, end the start and say what to do', async () => {
  await writeFile(join(dataDir, 'encryption-key'), 'half a k');
  await expect(withService({}, () => {})).rejects.toThrow(
    /encryption-key is not an encryption key: restore it, or set ENCRYPTION_KEY$/,
  );
  expect(await readFile(join(dataDir, 'encryption-key'), 'utf8')).toBe('half a k');
  const inAFile = join(dataDir, 'encryption-key', 'below');
  const env = { DATA_DIR: inAFile, SIGNING_SECRET: 'a secret for tests only', S3_BUCKET: 'bucket' };
  await expect(withService(env, () => {})).rejects.toThrow(/cannot be read or stored: set ENCRYPTION_KEY$/);
});

test('a line end behind the key in the file does no harm', async () => {
  await writeFile(join(dataDir, 'encryption-key'), `${newKey()}\n`);
  await withService({}, ({ service }) => {
    const { sealer } = service.services;
    expect(sealer.open(sealer.seal('secret', context), context)).toBe('secret');
  });
});

describe('ENCRYPTION_KEY', () => {
  test.each(['secret', 'A'.repeat(44), Buffer.alloc(31).toString('base64'), Buffer.alloc(32).toString('hex')])(
    '%s is refused, and not repeated',
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

test('of 20 that keep a secret at once, all get the same, and no draft is left', async () => {
  let made = 0;
  const create = () => {
    made += 1;
    return `secret ${made}`;
  };
  const kept = await concurrently(20, () => loadOrCreateSecret(join(dataDir, 'new'), 'name', create));
  expect(made).toBeGreaterThan(1);
  expect(new Set(kept).size).toBe(1);
  expect(await readdir(join(dataDir, 'new'))).toEqual(['name']);
  expect(await loadOrCreateSecret(join(dataDir, 'new'), 'name', create)).toBe(kept[0]);
});
