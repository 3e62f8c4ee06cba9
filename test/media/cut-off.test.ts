/** Recordings that are cut off anywhere, as when the browser is killed: what is whole stays, with its duration. */
import { spawnSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { remux } from '../../src/media/remux.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { makeVideo, noFfmpeg, videos } from './ffmpeg.ts';

const SECONDS = 8;
const CUTS = 8;
const { h264, vp8, vp9, aac, opus, fragmented, live } = videos;

let directory: string;
beforeAll(async () => {
  directory = await makeTempDir();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

type Packet = { end: number; until: number };

/** Reads with another program when each packet ends, and where in the file. */
async function readPackets(bytes: Uint8Array): Promise<Packet[]> {
  const path = join(directory, crypto.randomUUID());
  await writeFile(path, bytes);
  const entries = 'packet=pts_time,duration_time,pos,size';
  const { stdout } = spawnSync('ffprobe', ['-v', 'error', '-show_entries', entries, '-of', 'json', path], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const { packets } = JSON.parse(stdout.toString()) as { packets: Record<string, string>[] };
  return packets.map(({ pts_time, duration_time = 0, pos, size }) => ({
    end: Number(pts_time) + Number(duration_time),
    until: Number(pos) + Number(size),
  }));
}

const endOf = (packets: readonly Packet[]): number => Math.max(0, ...packets.map(({ end }) => end));

async function remuxed(file: Buffer) {
  const chunks: Uint8Array[] = [];
  const { duration, isRemuxed } = await remux(
    { size: file.length, read: async (start, end) => file.subarray(start, end) },
    async (chunk) => chunks.push(chunk),
  );
  return { duration, isRemuxed, bytes: Buffer.concat(chunks) };
}

describe.skipIf(noFfmpeg !== null).each([
  ['MP4 with H.264 and AAC', 'a.mp4', [...h264, ...aac, ...fragmented], 0.05],
  ['MP4 with VP9 and Opus', 'a.mp4', [...vp9, ...opus, ...fragmented], 0.05],
  ['MP4 with a fragment for each four seconds', 'a.mp4', [...h264, '-g', '40', ...aac, ...fragmented], 0.05],
  ['WebM with VP8 and Opus', 'a.webm', [...vp8, ...opus, ...live], 1.1],
  ['WebM with VP9 and Opus', 'a.webm', [...vp9, ...opus, ...live], 1.1],
] as const)('%s', (_, name, options, lost) => {
  test(`cut off at ${CUTS} random positions, loses at most ${lost} s of what is whole`, async () => {
    const file = await makeVideo(name, SECONDS, options);
    const packets = await readPackets(file);
    const cuts = Array.from({ length: CUTS }, () => Math.floor(file.length * (0.3 + 0.7 * Math.random())));
    // Also within the header of a fragment.
    const header = file.lastIndexOf('moof');
    if (header > 0) cuts.push(header + 4, header + 12, header + 100);
    for (const cut of cuts) {
      const whole = endOf(packets.filter(({ until }) => until <= cut));
      const { duration, isRemuxed, bytes } = await remuxed(file.subarray(0, cut));
      const at = `cut at ${cut} of ${file.length} bytes`;
      expect(isRemuxed, at).toBe(true);
      const stored = endOf(await readPackets(bytes));
      expect(stored, at).toBeLessThan(whole + 0.05);
      expect(stored, at).toBeGreaterThan(whole - lost);
      expect(Math.abs((duration ?? 0) - stored), at).toBeLessThanOrEqual(0.55);
    }
  });
});
