/** A film that is longer than the URL works from which the browser reads it. */
import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { ffmpegPath } from '../../support/ffmpeg.ts';
import { createHttp } from '../../support/http.ts';
import { startServer, stopServer } from '../../support/server-process.ts';
import { serverStores } from '../../support/server-stores.ts';
import { makeTempDir } from '../../support/temp-dir.ts';
import type { TestApp } from '../../support/test-app.ts';
import { addTeam } from '../../support/world.ts';
import { journey } from './support/journey.ts';

const FILM_SECONDS = 40;
const LINK_SECONDS = 10;

let dir: string;
let film: Blob;
beforeAll(async () => {
  dir = await makeTempDir();
  if (ffmpegPath === undefined) return;
  const path = join(dir, 'film.mp4');
  // Noise, of which the browser cannot read all before the URL expires: 40 seconds are about 70 MB.
  const noise = `nullsrc=size=320x180:rate=25:duration=${FILM_SECONDS},geq=random(1)*255:128:128`;
  const codec = ['-c:v', 'libx264', '-preset', 'ultrafast', '-b:v', '14M', '-pix_fmt', 'yuv420p'];
  await promisify(execFile)(ffmpegPath, [
    ...['-v', 'error', '-f', 'lavfi', '-i', noise, ...codec, '-movflags', '+faststart', path],
  ]);
  film = await openAsBlob(path, { type: 'video/mp4' });
});
afterAll(() => rm(dir, { recursive: true, force: true }));

if (ffmpegPath !== undefined) for (const { store, env } of serverStores('films')) journeyOfFilm(store, env);

function journeyOfFilm(store: string, env: Record<string, string>): void {
  journey(`a film on ${store} plays to its end, although its first URL expires`, async ({ open }) => {
    const server = startServer({ DATA_DIR: join(dir, store), DOWNLOAD_URL_SECONDS: `${LINK_SECONDS}`, ...env });
    try {
      const url = (await server.ready).replace('127.0.0.1', 'localhost');
      // `as`: people and teams are created over HTTP, and need nothing else of an app.
      const team = await addTeam({ url, http: createHttp(url) } as TestApp);
      await team.owner.client.upload({ id: team.id, file: film, name: 'Long film' });
      const page = await open(`${url}/`);
      await page.context().addCookies([{ name: 'session', value: team.owner.token, url, httpOnly: true }]);
      const asked = countRequests(page, url);
      await page.goto(`${url}/w/${team.id}/library`);
      await page.getByRole('button', { name: 'Long film' }).click();
      await page.getByLabel('Video Long film').waitFor();
      const evaluate = (expression: string) => page.evaluate(`document.querySelector('video').${expression}`);
      // The promise rejects if the player loads the address again.
      const play = () => evaluate('play().catch(() => {})');
      await evaluate('muted = true');
      await play();
      const position = () => evaluate('currentTime');
      await expect.poll(position, { timeout: 120_000 }).toBeGreaterThanOrEqual(FILM_SECONDS - 0.5);
      // Its beginning is no longer in memory, and the URL has expired.
      await evaluate('currentTime = 2');
      await play();
      await expect.poll(position, { timeout: 120_000 }).toBeLessThan(30);
      await expect.poll(position, { timeout: 120_000 }).toBeGreaterThan(4);
      expect(asked.count).toBeGreaterThan(1);
    } finally {
      await stopServer(server);
    }
  });
}

/** Counts how often a page asks for the address of a file. */
function countRequests(page: Page, origin: string): { count: number } {
  const asked = { count: 0 };
  page.on('request', (request) => {
    if (request.url().startsWith(origin) && new URL(request.url()).pathname.endsWith('/file')) asked.count += 1;
  });
  return asked;
}
