import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The path of the program, or undefined. */
export const firefoxPath = (process.env.PATH ?? '')
  .split(':')
  .flatMap((dir) => ['firefox-esr', 'firefox'].map((name) => join(dir, name)))
  .find((path) => existsSync(path));
