/** `scripts/lock.mjs`, which lets one installation or build at a time work on a checkout. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, utimesSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const module = new URL('../../scripts/lock.mjs', import.meta.url).href;

let root: string;
let path: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'lynxroom-lock-'));
  const key = createHash('sha256').update(root).digest('hex').slice(0, 16);
  path = join(tmpdir(), `lynxroom-work-${process.getuid?.() ?? 0}-${key}.lock`);
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
  await rm(path, { force: true });
});

/** Starts a process that holds the lock while `work` runs. It fails if another one is at work. */
function startHolder(work: string): ChildProcess & { printed(): string } {
  const code = `
    import { rmSync, writeFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { withLock } from '${module}';
    await withLock('work', '${root}', async () => {
      writeFileSync('${root}/working', '', { flag: 'wx' });
      console.log('working');
      ${work}
      rmSync('${root}/working');
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: 'pipe' });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  return Object.assign(child, { printed: () => text });
}

async function ended(child: ReturnType<typeof startHolder>): Promise<string> {
  if (child.exitCode === null) await once(child, 'close');
  return `${child.exitCode}: ${child.printed()}`;
}

test('a lock is kept as long as its process works, however old it is', async () => {
  const first = startHolder(
    'await new Promise((resolve) => process.stdin.once("data", resolve)); process.stdin.destroy();',
  );
  await expect.poll(() => first.printed()).toBe('working\n');
  utimesSync(path, new Date(0), new Date(0));
  const second = startHolder('');
  await expect.poll(() => second.printed()).toBe('Waiting for another work of this checkout …\n');
  first.stdin?.write('end\n');
  expect(await ended(first)).toBe('0: working\n');
  expect(await ended(second)).toBe('0: Waiting for another work of this checkout …\nworking\n');
  expect(existsSync(path)).toBe(false);
});

test('the lock of a killed process is taken over by one process at a time', async () => {
  const killed = startHolder('await sleep(600_000);');
  await expect.poll(() => killed.printed()).toBe('working\n');
  killed.kill('SIGKILL');
  await ended(killed);
  await rm(join(root, 'working'));
  const others = Array.from({ length: 6 }, () => startHolder('await sleep(20);'));
  for (const result of await Promise.all(others.map(ended)))
    expect(result).toMatch(/^0: (?:Waiting .* …\n)?working\n$/);
});

test('a lock is taken over if its number belongs to a process that started later', async () => {
  const killed = startHolder('await sleep(600_000);');
  await expect.poll(() => killed.printed()).toBe('working\n');
  const [, start] = (await readFile(path, 'utf8')).split(' ');
  killed.kill('SIGKILL');
  await ended(killed);
  await rm(join(root, 'working'));
  await writeFile(path, `${process.pid} ${start}`);
  expect(await ended(startHolder(''))).toBe('0: working\n');
});
