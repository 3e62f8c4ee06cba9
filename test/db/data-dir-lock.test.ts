import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataDirInUseError, lockDataDir } from '../../src/db/data-dir-lock.ts';
import { fixture, type Running, runScript } from './fixtures/run.ts';

let dataDir: string;
let running: Running[];

function startHolder(): Running {
  const holder = runScript(fixture('lock-holder.ts'), [dataDir]);
  running.push(holder);
  return holder;
}

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'lynxroom-lock-'));
  running = [];
});

afterEach(async () => {
  await Promise.all(running.map((holder) => holder.end('SIGKILL')));
  await rm(dataDir, { recursive: true, force: true });
});

describe('the lock of a data folder', () => {
  it('keeps a second process out, and names the first', async () => {
    const holder = startHolder();
    expect(await holder.firstLine).toBe('locked');

    const refusal = lockDataDir(dataDir);

    await expect(refusal).rejects.toThrow(DataDirInUseError);
    await expect(refusal).rejects.toThrow(`process ${holder.child.pid}`);
    await expect(refusal).rejects.toThrow(dataDir);
  });

  it('keeps the same process out a second time, until it is released', async () => {
    const lock = await lockDataDir(dataDir);
    await expect(lockDataDir(dataDir)).rejects.toThrow(DataDirInUseError);
    await lock.release();

    const again = await lockDataDir(dataDir);

    // The first holder's second release must not free what is no longer its own.
    await lock.release();
    await expect(lockDataDir(dataDir)).rejects.toThrow(DataDirInUseError);
    await again.release();
  });

  it('is free by itself after SIGKILL of its holder', async () => {
    const holder = startHolder();
    expect(await holder.firstLine).toBe('locked');
    await holder.end('SIGKILL');

    const lock = await lockDataDir(dataDir);

    await lock.release();
  });

  it('goes to exactly one of many that race for what a killed holder left', async () => {
    for (let round = 0; round < 3; round++) {
      const holder = startHolder();
      expect(await holder.firstLine).toBe('locked');
      await holder.end('SIGKILL');

      const racers = Array.from({ length: 6 }, startHolder);
      const lines = await Promise.all(racers.map((racer) => racer.firstLine));

      expect(lines.sort()).toEqual([...Array<string>(5).fill('DataDirInUseError'), 'locked'].sort());
      await Promise.all(racers.map((racer) => racer.end('SIGKILL')));
    }
  });

  it('makes a folder that is missing', async () => {
    const missing = join(dataDir, 'a/b');
    const lock = await lockDataDir(missing);
    expect((await stat(missing)).isDirectory()).toBe(true);
    await lock.release();
  });
});
