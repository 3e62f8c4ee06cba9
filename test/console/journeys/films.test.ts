/**
 * A film that is longer than the URL works from which the browser reads it. With FILM_MINUTES=25, the film has that
 * many minutes, and the URL works as long as it does by default.
 */
import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { ffmpegPath } from '../../support/ffmpeg.ts';
import { createHttp } from '../../support/http.ts';
import { startServer, stopServer } from '../../support/server-process.ts';
import { serverStores } from '../../support/server-stores.ts';
import { makeTempDir } from '../../support/temp-dir.ts';
import type { TestApp } from '../../support/test-app.ts';
import { addTeam } from '../../support/world.ts';
import { journey } from './support/journey.ts';

const MINUTES = Number(process.env.FILM_MINUTES ?? 0);
const FILM_SECONDS = MINUTES === 0 ? 40 : MINUTES * 60;
const LINK_SECONDS = MINUTES === 0 ? 10 : 900;
/** Noise, of which the browser cannot read all before the URL expires. */
const FILM_BYTES = MINUTES === 0 ? 70_000_000 : 90_000_000;
/** For the player to reach a position. */
const WAIT_MS = (FILM_SECONDS + 80) * 1_000;

// Half of it is for ffmpeg, and for setting the position back.
if (MINUTES > 0) vi.setConfig({ testTimeout: 2 * WAIT_MS, hookTimeout: WAIT_MS });

let dir: string;
let film: Blob;
beforeAll(async () => {
  dir = await makeTempDir();
  if (ffmpegPath === undefined) return;
  const path = join(dir, 'film.mp4');
  const noise = `nullsrc=size=320x180:rate=25:duration=${FILM_SECONDS},geq=random(1)*255:128:128`;
  const rate = ['-b:v', `${Math.round((8 * FILM_BYTES) / FILM_SECONDS)}`];
  const codec = ['-c:v', 'libx264', '-preset', 'ultrafast', ...rate, '-pix_fmt', 'yuv420p'];
  await promisify(execFile)(ffmpegPath, [
    ...['-v', 'error', '-f', 'lavfi', '-i', noise, ...codec, '-movflags', '+faststart', path],
  ]);
  film = await openAsBlob(path, { type: 'video/mp4' });
});
afterAll(() => rm(dir, { recursive: true, force: true }));

// They are watched at the same time, since most of it is waiting.
if (ffmpegPath !== undefined)
  describe.concurrent('each store', () => {
    for (const { store, env } of serverStores('films')) journeyOfFilm(store, env);
  });

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
      await expect.poll(position, { timeout: WAIT_MS }).toBeGreaterThanOrEqual(FILM_SECONDS - 0.5);
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
