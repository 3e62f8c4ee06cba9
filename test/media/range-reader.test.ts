/** What a damaged or forged file can make its reader read. */
import { expect, test } from 'vitest';
import { createSequentialReader } from '../../src/media/range-reader.ts';

const MIB = 1024 * 1024;

test('a file is read in blocks, of which the last are kept, and never more than 64 MiB at once', async () => {
  const fetched: [number, number][] = [];
  const read = createSequentialReader(2_048 * MIB, async (start, end) => {
    fetched.push([start, end]);
    return new Uint8Array(end - start).fill(start / MIB);
  });
  expect([...(await read(2 * MIB - 1, 2 * MIB + 1))]).toEqual([0, 2]);
  await read(MIB, MIB + 10);
  expect(fetched).toEqual([
    [0, 2 * MIB],
    [2 * MIB, 4 * MIB],
  ]);
  await expect(read(0, 64 * MIB + 1)).rejects.toThrow('too much memory');
  await expect(read(2_048 * MIB - 1, 2_048 * MIB + 1)).rejects.toThrow(RangeError);
  // The last two are the end of the file, and what would follow it.
  expect(fetched.slice(2)).toEqual([
    [2_046 * MIB, 2_048 * MIB],
    [2_048 * MIB, 2_048 * MIB],
  ]);
});
