/** Videos made by ffmpeg. Without it, the tests that need them are skipped. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ffmpegPath } from '../support/ffmpeg.ts';

/** Why the tests with ffmpeg cannot run; null if they can. `.ci/run` installs it. */
export const noFfmpeg = ffmpegPath === undefined ? 'ffmpeg is not installed' : null;
if (noFfmpeg !== null) process.stderr.write(`Tests with videos are skipped: ${noFfmpeg}\n`);

/** Makes a video of a moving picture and a tone. `options` come before the output. */
export async function makeVideo(name: string, seconds: number, options: readonly string[]): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'lynxroom-video-'));
  try {
    const path = join(folder, name);
    const picture = ['-f', 'lavfi', '-i', 'testsrc2=size=160x120:rate=10'];
    const tone = ['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000'];
    await run(['-loglevel', 'error', ...picture, ...tone, '-t', String(seconds), '-threads', '1', ...options, path]);
    return await readFile(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function run(args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('ffmpeg', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (text: Buffer) => {
      errors += text.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(errors))));
  });
}

const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '10'];
const vp9 = ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-g', '10'];
const vp8 = ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '16', '-g', '10'];
const av1 = ['-c:v', 'libsvtav1', '-preset', '12', '-g', '10'];
const aac = ['-c:a', 'aac'];
const opus = ['-c:a', 'libopus'];
const fragmented = ['-movflags', 'frag_keyframe+empty_moov+default_base_moof'];
const live = ['-live', '1', '-cluster_time_limit', '1000'];

/** Kinds of video: the name of the file, the options of ffmpeg, and whether it is seekable. */
export const kinds: readonly { kind: string; name: string; options: readonly string[]; isSeekable: boolean }[] = [
  ...[
    ['H.264 and AAC, index at the end', h264, aac, []],
    ['H.264 and AAC, index first', h264, aac, ['-movflags', '+faststart']],
    ['H.264 alone', h264, ['-an'], []],
    ['AAC alone', ['-vn'], aac, []],
    ['H.264 and Opus', h264, opus, []],
    ['H.264 and MP3', h264, ['-c:a', 'libmp3lame'], []],
    ['H.264 with B-frames', ['-c:v', 'libx264', '-bf', '3'], aac, []],
    ['H.264 at 30000/1001 pictures a second', [...h264, '-r', '30000/1001'], aac, []],
    ['H.264 with a variable rate', [...h264, '-vf', 'mpdecimate', '-vsync', 'vfr'], aac, []],
    ['HEVC', ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error'], aac, []],
    ['MPEG-4 part 2', ['-c:v', 'mpeg4'], aac, []],
    ['VP9 and Opus', vp9, opus, []],
    ['AV1 and AAC', av1, aac, []],
    ['the brand mp42', h264, aac, ['-brand', 'mp42']],
    ['the brand 3gp5', h264, aac, ['-brand', '3gp5']],
    ['the brand M4V', h264, aac, ['-brand', 'M4V ']],
    ['an audio track that begins late', h264, [...aac, '-af', 'adelay=1500'], []],
    ['a timescale of 90,000', h264, aac, ['-video_track_timescale', '90000']],
  ].map(([kind, video, audio, rest]) => ({
    kind: `an MP4 with ${kind}`,
    name: 'video.mp4',
    options: [video, audio, rest].flat() as string[],
    isSeekable: true,
  })),
  ...[
    ['H.264 and AAC', h264, aac, fragmented],
    ['VP9 and Opus', vp9, opus, fragmented],
    ['AV1 and Opus', av1, opus, fragmented],
    ['H.264 alone', h264, ['-an'], fragmented],
    ['a fragment for each picture', h264, aac, ['-movflags', 'frag_every_frame+empty_moov']],
    ['a fragment for each second', h264, aac, [...fragmented, '-frag_duration', '1000000']],
    ['samples before the first fragment', h264, aac, ['-movflags', 'frag_keyframe']],
    ['an index of segments', h264, aac, ['-movflags', 'dash+frag_keyframe+global_sidx']],
  ].map(([kind, video, audio, rest]) => ({
    kind: `an MP4 in fragments with ${kind}`,
    name: 'video.mp4',
    options: [video, audio, rest].flat() as string[],
    isSeekable: false,
  })),
  ...[
    ['VP8 and Opus', vp8, opus, []],
    ['VP9 and Opus', vp9, opus, []],
    ['VP9 and Vorbis', vp9, ['-c:a', 'libvorbis'], []],
    ['AV1 and Opus', av1, opus, []],
    ['VP8 and Opus, written live', vp8, opus, live],
    ['VP9 and Opus, written live', vp9, opus, live],
    ['VP9 alone, written live', vp9, ['-an'], live],
  ].map(([kind, video, audio, rest]) => ({
    kind: `a WebM with ${kind}`,
    name: 'video.webm',
    options: [video, audio, rest].flat() as string[],
    isSeekable: false,
  })),
];

export const videos = { h264, vp8, vp9, aac, opus, fragmented, live };
