/** The packed package for React, as another project gets it. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

test('is installed, and renders frames on a server', async () => {
  const dir = await makeTempDir();
  const args = ['pack', '--workspace', '@lynxroom/react', '--json', '--pack-destination', dir];
  const { stdout } = await run('npm', args, { cwd: root });
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('[\n')));
  const paths = files.map(({ path }: { path: string }) => path);
  expect(paths).toEqual(expect.arrayContaining(['README.md', 'dist/LICENSE', 'dist/index.js', 'dist/index.d.ts']));
  const installed = join(dir, 'node_modules/@lynxroom/react');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', join(dir, filename), '-C', installed, '--strip-components=1']);
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
