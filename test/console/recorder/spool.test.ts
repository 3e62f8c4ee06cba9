/** What the recorder of the console keeps of a recording until the service has it. */
import { expect, test } from 'vitest';
import {
  createSpool,
  parseInfo,
  readPartName,
  type Spool,
  toPartName,
} from '../../../web/src/meeting/recorder/spool.ts';
import { createMemoryDevice } from './memory-device.ts';

const info = { recordingId: 7, roomName: 'stand-up', uploadToken: 'lnr_x', extension: 'mp4' } as const;

async function read(spool: Spool, offset: number, maxBytes = 1_000): Promise<string> {
  return (await spool.read(offset, maxBytes)).text();
}

test('bytes are kept on the device in order, and removed once they were sent', async () => {
  const device = createMemoryDevice();
  const spool = createSpool(info, device);
  for (const text of ['abc', 'de', '', 'fghi']) void spool.append(new Blob([text]));
  await spool.append(new Blob([]));
  expect([...device.parts.keys()]).toEqual([0, 3, 5]);
  expect([spool.start, spool.end, spool.bytesInMemory, spool.isOnDevice]).toEqual([0, 9, 0, true]);
  expect([await read(spool, 0), await read(spool, 4), await read(spool, 9)]).toEqual(['abcdefghi', 'efghi', '']);
  // In parts, as far as they fit.
  expect([await read(spool, 0, 4), await read(spool, 1, 1)]).toEqual(['abc', 'b']);
  await spool.discard(4);
  expect([[...device.parts.keys()], spool.start, await read(spool, 4)]).toEqual([[3, 5], 3, 'efghi']);
  await spool.discard(9);
  expect([device.parts.size, spool.start, spool.end]).toEqual([0, 9, 9]);
});

test('what a full device does not take is kept in memory, after what it has', async () => {
  const device = createMemoryDevice();
  const spool = createSpool(info, device);
  await spool.append(new Blob(['abc']));
  device.isFull = true;
  await spool.append(new Blob(['de']));
  // A gap on the device would make what follows it worthless.
  device.isFull = false;
  await spool.append(new Blob(['f']));
  expect([[...device.parts.keys()], spool.isOnDevice, spool.bytesInMemory]).toEqual([[0], false, 3]);
  expect(await read(spool, 0)).toBe('abcdef');
  await spool.discard(5);
  expect(spool.bytesInMemory).toBe(1);
});

test('without a device everything is kept in memory', async () => {
  const spool = createSpool(info, null);
  await spool.append(new Blob(['abc']));
  expect([spool.isOnDevice, spool.bytesInMemory, await read(spool, 1)]).toEqual([false, 3, 'bc']);
});

test('a page that is opened later continues up to the first gap', async () => {
  const device = createMemoryDevice();
  for (const [offset, text] of [
    [12, 'xyz'],
    [4, 'ab'],
    [6, 'cde'],
    [9, ''],
  ] as const)
    await device.write(offset, new Blob([text]));
  await device.writeUrl('https://example.com/uploads/1');
  const spool = createSpool(info, device, device.find());
  expect([spool.start, spool.end, spool.isFinished]).toEqual([4, 9, true]);
  expect([spool.uploadUrl, await read(spool, 5)]).toEqual(['https://example.com/uploads/1', 'bcde']);
});

test('bytes that the device has lost are not sent as others', async () => {
  const device = createMemoryDevice();
  const spool = createSpool(info, device);
  await spool.append(new Blob(['abc']));
  device.parts.set(0, new Blob(['ab']));
  await expect(spool.read(0, 10)).rejects.toThrow('A part of the recording is no longer on this device');
});

test('who waits learns of more bytes, and of the end', async () => {
  const spool = createSpool(info, null);
  const more = spool.waitForMore();
  await spool.append(new Blob(['a']));
  await more;
  const end = spool.waitForMore();
  spool.finish();
  await end;
  expect([spool.end, spool.isFinished]).toEqual([1, true]);
});

test('the names of parts are their offsets, and notes that are damaged are not used', () => {
  expect([0, 4_000_000_000].map((offset) => readPartName(toPartName(offset)))).toEqual([0, 4_000_000_000]);
  expect(['info.json', 'x.part', '1.part.crswap'].map(readPartName)).toEqual([null, null, null]);
  expect(parseInfo(JSON.stringify(info))).toEqual(info);
  const damaged = [JSON.stringify(info).slice(0, -3), 'null', '{}', JSON.stringify({ ...info, extension: 'exe' })];
  expect(damaged.map(parseInfo)).toEqual([null, null, null, null]);
});
