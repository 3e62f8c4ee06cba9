/**
 * Builds `dist/lynxroom.js`: the command line, the typed client and tRPC's client in one file, so that the installed
 * package needs no other.
 */
import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const require = createRequire(import.meta.url);
/** The packages whose code is in the file. Their license requires that its text is included. */
const BUNDLED = ['@trpc/client', '@trpc/server'];

rmSync(here('dist'), { recursive: true, force: true });
const bundle = await rolldown({
  input: here('src/main.ts'),
  platform: 'node',
  transform: { target: 'node20' },
  onLog(level, log) {
    throw new Error(`${level}: ${log.message}`);
  },
});
const file = here('dist/lynxroom.js');
const { output } = await bundle.write({
  file,
  format: 'esm',
  banner: '#!/usr/bin/env node',
  minify: false,
  codeSplitting: false,
});
chmodSync(file, 0o755);
const foreign = output
  .flatMap((chunk) => ('imports' in chunk ? chunk.imports : []))
  .filter((name) => !/^node:/.test(name));
if (foreign.length > 0) throw new Error(`The bundle still imports ${foreign.join(', ')}`);

const notices = BUNDLED.map((name) => {
  const root = dirname(require.resolve(`${name}/package.json`));
  return `${name}\n\n${readFileSync(join(root, 'LICENSE'), 'utf8')}`;
});
writeFileSync(here('dist/THIRD-PARTY-LICENSES'), notices.join('\n\n'));
copyFileSync(here('../../LICENSE'), here('dist/LICENSE'));
