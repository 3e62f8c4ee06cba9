/** Writing files so that readers and crashes never see a part of one. */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFileIfMissing, ifExists, replaceFile } from '../../src/core/files.ts';

let directory: string;
let path: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lynxroom-files-'));
  path = join(directory, 'file');
});

afterEach(() => rm(directory, { recursive: true, force: true }));

test('replaceFile replaces the content and the mode, and leaves no other file', async () => {
  await writeFile(path, 'old', { mode: 0o644 });
  await replaceFile(path, 'new');
  expect(await readFile(path, 'utf8')).toBe('new');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(directory)).toEqual(['file']);
});

test('createFileIfMissing writes the file once, however many do so at once, and leaves no other file', async () => {
  await Promise.all(['a', 'b', 'c', 'd'].map((content) => createFileIfMissing(path, content)));
  const content = await readFile(path, 'utf8');
  expect(content).toMatch(/^[abcd]$/);
  await createFileIfMissing(path, 'later');
  expect(await readFile(path, 'utf8')).toBe(content);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(directory)).toEqual(['file']);
});

test.each([
  ['replaceFile', replaceFile],
  ['createFileIfMissing', createFileIfMissing],
])('%s rejects when the directory does not exist', async (_, write) => {
  await expect(write(join(directory, 'missing/file'), 'text')).rejects.toThrow('ENOENT');
});

test(
  'ifExists resolves with undefined for a missing file or directory, and rejects for any other ' + 'failure',
  async () => {
    expect(await ifExists(readFile(path))).toBeUndefined();
    await writeFile(path, '');
    expect(await ifExists(readFile(join(path, 'below-a-file')))).toBeUndefined();
    await expect(ifExists(readFile(directory))).rejects.toThrow('EISDIR');
  },
);
