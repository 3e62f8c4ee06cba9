/** The packed package for React, as another project gets it. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type PackedPackage, packPackage } from '../../scripts/pack-package.ts';
import { root, run } from '../client/packed-client.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const PROGRAM = `
import { Booking, Library, Room, WebhookPortal } from '@lynxroom/react';
import { toFrameUrl } from '@lynxroom/react/frame';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
const service = 'https://lynxroom.example.com/';
const props = { service, room: 'amber falcon', token: 'lnj_x', theme: 'dark' };
process.stdout.write(JSON.stringify([
  renderToStaticMarkup(createElement(Room, props)),
  renderToStaticMarkup(createElement(Booking, { service, slug: 'intro' })),
  renderToStaticMarkup(createElement(Library, { service, workspace: 7, token: 'lne_x' })),
  renderToStaticMarkup(createElement(WebhookPortal, { service, workspace: 7 })),
  toFrameUrl({ service, part: 'book', name: 'intro' }),
  renderToStaticMarkup(createElement(Room, { service, room: 'amber falcon', className: 'room' })),
]));`;

async function packReact(dir: string, afterMs: number): Promise<PackedPackage> {
  await sleep(afterMs);
  return packPackage('@lynxroom/react', dir);
}

test('is installed, and renders frames on a server', async () => {
  const dir = await makeTempDir();
  // Builds that ran at once would remove each other's files.
  const [{ path, files }, ...others] = await Promise.all([
    packReact(dir, 0),
    ...[50, 100, 150, 200, 250, 300, 350].map(async (afterMs) => packReact(await makeTempDir(), afterMs)),
  ]);
  for (const other of others) expect(other.files).toEqual(files);
  expect(files).toEqual(expect.arrayContaining(['README.md', 'dist/LICENSE', 'dist/index.js', 'dist/index.d.ts']));
  const installed = join(dir, 'node_modules/@lynxroom/react');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', path, '-C', installed, '--strip-components=1']);
  for (const name of ['react', 'react-dom', 'scheduler'])
    await symlink(join(root, 'node_modules', name), join(dir, 'node_modules', name));
  await writeFile(join(dir, 'program.mjs'), PROGRAM);
  const printed = JSON.parse((await run(process.execPath, ['program.mjs'], { cwd: dir })).stdout);
  expect(printed[0]).toContain('src="https://lynxroom.example.com/embed/room/amber%20falcon?theme=dark#token=lnj_x"');
  expect(printed[0]).toContain('allow="camera; microphone; display-capture; autoplay; fullscreen"');
  expect(printed[1]).toContain('src="https://lynxroom.example.com/embed/book/intro"');
  expect(printed[2]).toContain('src="https://lynxroom.example.com/embed/library/7#token=lne_x"');
  expect(printed[3]).toContain('src="https://lynxroom.example.com/embed/webhooks/7"');
  expect(printed[4]).toBe('https://lynxroom.example.com/embed/book/intro');
  // A height in `style` would win over that of the class.
  expect(printed[5]).toContain('width="100%" height="100%" class="room" style="border:0"');
});
