import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataDirInUseError, lockDataDir } from '../src/data-dir-lock.ts';
import { fixturePath, type RunningScript, runScript } from './support/scripts.ts';

const RACERS = 6;

let dataDir: string;
let holders: RunningScript[];

function startHolder(): RunningScript {
  const holder = runScript(fixturePath('hold-lock.ts'), [dataDir]);
  holders.push(holder);
  return holder;
}

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'data-dir-lock-'));
  holders = [];
});

afterEach(async () => {
  await Promise.all(holders.map((holder) => holder.end('SIGKILL')));
  await rm(dataDir, { recursive: true, force: true });
});

describe('the lock of a data directory', () => {
  it('is refused to a second process, with an error that has the id of the first', async () => {
    const holder = startHolder();
    expect(await holder.firstLine).toBe('locked');

    const refusal = lockDataDir(dataDir);

    await expect(refusal).rejects.toThrow(DataDirInUseError);
    await expect(refusal).rejects.toThrow(`process ${holder.child.pid}`);
    await expect(refusal).rejects.toThrow(dataDir);
  });

  it('is refused to the same process until it is released', async () => {
    const lock = await lockDataDir(dataDir);
    await expect(lockDataDir(dataDir)).rejects.toThrow(DataDirInUseError);
    await lock.release();

    const again = await lockDataDir(dataDir);

    // A repeated release must not release the lock of the next holder.
    await lock.release();
    await expect(lockDataDir(dataDir)).rejects.toThrow(DataDirInUseError);
    await again.release();
  });

  it('is released by SIGKILL of its holder', async () => {
    const holder = startHolder();
    expect(await holder.firstLine).toBe('locked');
    await holder.end('SIGKILL');

    const lock = await lockDataDir(dataDir);

    await lock.release();
  });

  it('goes to exactly one of many processes that race after its holder was killed', async () => {
    for (let round = 0; round < 3; round++) {
      const holder = startHolder();
      expect(await holder.firstLine).toBe('locked');
      await holder.end('SIGKILL');

      const racers = Array.from({ length: RACERS }, startHolder);
      const lines = await Promise.all(racers.map((racer) => racer.firstLine));

      expect(lines.sort()).toEqual([...Array<string>(RACERS - 1).fill('DataDirInUseError'), 'locked'].sort());
      await Promise.all(racers.map((racer) => racer.end('SIGKILL')));
    }
  });

  it('creates a missing directory', async () => {
    const missing = join(dataDir, 'a/b');
    const lock = await lockDataDir(missing);
    expect((await stat(missing)).isDirectory()).toBe(true);
    await lock.release();
  });
});
