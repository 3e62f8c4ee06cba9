/** An upload that goes on after the browser was closed. */
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { createHttp } from '../../support/http.ts';
import { startServer, stopServer } from '../../support/server-process.ts';
import { serverStores } from '../../support/server-stores.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { makeTempDir } from '../../support/temp-dir.ts';
import type { TestApp } from '../../support/test-app.ts';
import { addTeam } from '../../support/world.ts';
import { pdfOf } from '../../uploads/tus-fixtures.ts';
import { journey } from './support/journey.ts';

/** In parts of 8 MiB, 40 % of it is in the middle of the second one. */
const FILE = pdfOf(30 * 1024 * 1024);

for (const { store, env } of serverStores('closed-browser'))
  journey(`an upload to ${store} continues after the browser was closed at 40 %`, async ({ openProfile }) => {
    const dir = await makeTempDir();
    const path = join(dir, 'large.pdf');
    await writeFile(path, FILE);
    const server = startServer({ DATA_DIR: join(dir, 'data'), ...env });
    let passed = 0;
    const url = await server.ready;
    const proxy = await startTcpProxy(url, (chunk) => {
      passed += chunk.length;
      // Nothing more arrives until the browser has been closed.
      if (passed >= 0.4 * FILE.length) proxy.breakDown();
      return chunk;
    });
    try {
      // `as`: people and teams are created over HTTP, and need nothing else of an app.
      const team = await addTeam({ url, http: createHttp(url) } as TestApp);
      const { member } = team;
      const library = new URL(`/w/${team.id}/library`, proxy.url).href;
      const profile = join(dir, 'profile');
      const closed = await openProfile(profile, library, member);
      passed = 0;
      await closed.locator('input[type=file]').setInputFiles(path);
      await expect.poll(() => passed).toBeGreaterThanOrEqual(0.4 * FILE.length);
      // A browser writes what a page keeps within some seconds. On a slow machine, one that is closed may not.
      await expect.poll(() => isKept(profile)).toBe(true);
      await closed.context().close();
      expect((await member.client.library.list.query({ id: team.id })).total).toBe(0);

      passed = Number.NEGATIVE_INFINITY;
      proxy.repair();
      const page = await openProfile(profile, library, member);
      const sent = watchParts(page);
      await page.locator('input[type=file]').setInputFiles(path);
      await page.getByText('1 of 1 uploaded').waitFor();
      expect(sent.methods).not.toContain('POST');
      expect(Math.min(...sent.offsets)).toBeGreaterThan(0);
      const { items } = await member.client.library.list.query({ id: team.id });
      expect(items).toMatchObject([{ name: 'large.pdf', size: FILE.length }]);
      const file = await member.client.library.download.query({ id: team.id, itemId: items[0]?.id ?? 0 });
      const stored = Buffer.from(await (await fetch(file.url)).arrayBuffer());
      expect(hashOf(stored)).toBe(hashOf(FILE));
      // It writes to its profile, and may still read the file for its poster.
      await page.context().close();
    } finally {
      await proxy.close();
      await stopServer(server);
      await rm(dir, { recursive: true, force: true, maxRetries: 10 });
    }
  });

/** Whether the files of a browser have the URL of an upload in their local storage. */
async function isKept(profile: string): Promise<boolean> {
  const storage = join(profile, 'Default/Local Storage/leveldb');
  const names = await readdir(storage).catch(() => []);
  const files = await Promise.all(names.map((name) => readFile(join(storage, name)).catch(() => Buffer.alloc(0))));
  return files.some((file) => file.includes('/library/uploads/'));
}

/** What a page sends to resumable uploads: its methods, and the offsets of its parts. */
function watchParts(page: Page): { methods: string[]; offsets: number[] } {
  const sent = { methods: [] as string[], offsets: [] as number[] };
  page.on('request', (request) => {
    if (!new URL(request.url()).pathname.includes('/library/uploads')) return;
    sent.methods.push(request.method());
    const offset = request.headers()['upload-offset'];
    if (offset !== undefined) sent.offsets.push(Number(offset));
  });
  return sent;
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
