/** Where ffmpeg is installed, which makes the media files of some tests. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The path of the program, or undefined. */
export const ffmpegPath = (process.env.PATH ?? '')
  .split(':')
  .map((dir) => join(dir, 'ffmpeg'))
  .find((path) => existsSync(path));
