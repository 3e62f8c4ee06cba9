/** What the recorder of the console makes of a meeting, also if the network or the page fails meanwhile. */
import { rm } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import type { Browser as Firefox } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { chromiumPath } from '../../consumer/browser.ts';
import { createHttp } from '../../support/http.ts';
import { type ServerProcess, startServer, stopServer } from '../../support/server-process.ts';
import { makeTempDir } from '../../support/temp-dir.ts';
import type { TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { openInFirefox, startFirefox } from './support/firefox.ts';
import { firefoxPath } from './support/firefox-path.ts';
import { type Journey, journey } from './support/journey.ts';
import { type RecorderSite, startRecorderSite } from './support/recorder-site.ts';

/** Durations are whole seconds, and the first picture and the last ones take a moment. */
const TOLERANCE = 2;
/** A silent recorder is noticed within a minute after `RECORDING_IDLE_SECONDS`. */
const IDLE_SECONDS = 10;
const IDLE = { timeout: 150_000 };

let dir: string;
let server: ServerProcess;
/** The service itself, whose connections are never cut. */
let serviceUrl: string;
let site: RecorderSite;
beforeAll(async () => {
  if (chromiumPath === undefined) return;
  dir = await makeTempDir();
  server = startServer({ DATA_DIR: dir, RECORDING_IDLE_SECONDS: String(IDLE_SECONDS) });
  serviceUrl = await server.ready;
  site = await startRecorderSite(serviceUrl);
});
afterEach(() => {
  if (chromiumPath === undefined) return;
  // A journey that failed while the network was away must not take the others with it.
  site.repair();
});
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await site.close();
  await stopServer(server);
  await rm(dir, { recursive: true, force: true });
});

type Meeting = { team: Team; room: { name: string }; member: Page; guest: Page };
type Evaluates = { evaluate(script: string): Promise<unknown> };
type Join = { roomName: string; name?: string; others?: number };

/** Joins in the page. `as`: what the script returns. */
async function join(page: Evaluates, input: Join): Promise<{ id: number; token: string }> {
  await expect.poll(() => page.evaluate('globalThis.isReady === true')).toBe(true);
  const joined = await page.evaluate(`joinMeeting(${JSON.stringify({ others: 0, ...input })})`);
  return joined as { id: number; token: string };
}

async function newRoom(url = serviceUrl): Promise<{ team: Team; room: { name: string } }> {
  // `as`: people and teams are created over HTTP, and need nothing else of an app.
  const team = await addTeam({ url, http: createHttp(url) } as TestApp);
  const { room } = await team.owner.client.rooms.create.mutate({ workspace_id: team.id });
  return { team, room };
}

/** A member and a guest who see and hear each other. */
async function startMeeting({ open }: Journey): Promise<Meeting> {
  const { team, room } = await newRoom();
  const guest = await open(`${site.url}/recorder.html`);
  await join(guest, { roomName: room.name, name: 'Grace Guest' });
  const member = await open(`${site.url}/recorder.html`, team.owner);
  await join(member, { roomName: room.name, others: 1 });
  return { team, room, member, guest };
}

const readState = (page: Evaluates, key: string) => page.evaluate(`recorder.getState().${key}`);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function startRecording(page: Evaluates): Promise<number> {
  await page.evaluate('recorder.start()');
  expect([await readState(page, 'status'), await readState(page, 'error')]).toEqual(['recording', null]);
  return performance.now();
}

async function readRecording({ team, room }: Pick<Meeting, 'team' | 'room'>) {
  const { recordings } = await team.owner.client.recordings.listInRoom.query({ name: room.name });
  return recordings[0];
}

function expectLength(seconds: number | undefined, expected: number): void {
  expect(Math.abs((seconds ?? 0) - expected)).toBeLessThanOrEqual(TOLERANCE);
}

journey('a recorded meeting of two plays in the console, although the network was away', async (world) => {
  const meeting = await startMeeting(world);
  const { team, room, member, guest } = meeting;
  const startedAt = await startRecording(member);
  await sleep(6_000);
  // The others learn who records.
  await expect.poll(() => guest.evaluate('meeting.recording?.name')).toBe(team.owner.name);
  expect(await readState(guest, 'status')).toBe('idle');
  site.cut();
  await sleep(2_500);
  site.repair();
  await sleep(1_500);
  await member.evaluate('recorder.stop()');
  const seconds = (performance.now() - startedAt) / 1_000;
  await expect.poll(() => readState(member, 'status')).toBe('idle');
  expect([await readState(member, 'error'), await readState(member, 'result')]).toEqual([
    ...[null, { key: 'recorder.sentToMember', values: {} }],
  ]);
  expect(await member.evaluate('listSpools()')).toEqual([]);
  await expect.poll(async () => (await readRecording(meeting))?.status).toBe('available');
  const recording = await readRecording(meeting);
  expectLength(recording?.duration, seconds);
  expect(recording?.poster_url).not.toBeNull();
  for (const page of [member, guest]) await page.evaluate('meeting.leave()');

  const page = await world.open(`${site.url}/w/${team.id}/rooms/${room.name}`, team.owner);
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  const video = page.getByLabel(/^Video Recording/);
  await video.waitFor();
  // `as`: what the expression returns.
  const read = async <Value>(expression: string) =>
    (await page.evaluate(`((video) => ${expression})(document.querySelector('video'))`)) as Value;
  await expect.poll(() => read<number>('video.readyState')).toBeGreaterThanOrEqual(1);
  expectLength(await read('video.duration'), seconds);
  expect(await read('[video.videoWidth, video.videoHeight]')).toEqual([1280, 720]);

  await video.focus();
  await page.keyboard.press('5');
  await expect.poll(() => read<boolean>('!video.seeking && video.currentTime > video.duration * 0.45')).toBe(true);
  await page.keyboard.press('m');
  await page.keyboard.press('>');
  await page.getByText('Speed 1.25×').waitFor();
  await page.keyboard.press('Space');
  await expect.poll(() => read<number>('video.currentTime / video.duration')).toBeGreaterThan(0.7);
  // Both the picture and the sound were decoded.
  expect(await read<number>('video.webkitAudioDecodedByteCount')).toBeGreaterThan(0);
  expect(await read<number>('video.getVideoPlaybackQuality().totalVideoFrames')).toBeGreaterThan(5);
  // The device remembers how somebody watches.
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await video.waitFor();
  expect(await page.getByLabel('Speed').inputValue()).toBe('1.25');
  expect(await read('[video.playbackRate, video.muted]')).toEqual([1.25, true]);
});

journey('a page that crashes while it records loses nothing of what it had captured', async (world) => {
  const { team, room } = await newRoom();
  const meeting = { team, room };
  const page = await world.open(`${site.url}/recorder.html`);
  const { token } = await join(page, { roomName: room.name, name: 'Grace Guest' });
  const startedAt = await startRecording(page);
  await sleep(5_000);
  site.cut();
  const cutAt = (performance.now() - startedAt) / 1_000;
  await sleep(5_000);
  const seconds = (performance.now() - startedAt) / 1_000;
  expect(await page.evaluate('listSpools()')).toHaveLength(1);
  const context = page.context();
  const crashed = page.waitForEvent('crash');
  const control = await context.newCDPSession(page);
  // It never answers.
  control.send('Page.crash').catch(() => {});
  await crashed;
  await page.close();
  site.repair();
  await team.owner.client.participants.leave.mutate({ roomName: room.name, token });
  // Nobody is left, so the next recording can start, and the file has what had arrived.
  await expect.poll(async () => (await readRecording(meeting))?.ended_at ?? null).not.toBeNull();
  await expect.poll(async () => (await readRecording(meeting))?.status, IDLE).toBe('available');
  const arrived = (await readRecording(meeting))?.duration;
  expect(arrived).toBeGreaterThan(0);
  expect(arrived).toBeLessThanOrEqual(cutAt + TOLERANCE);

  const again = await context.newPage();
  // The page of any room sends the rest, before anybody joins.
  await again.goto(`${site.url}/room/${room.name}`);
  await again.getByText('A recording that was left on this device has been sent.').waitFor();
  await expect.poll(async () => (await readRecording(meeting))?.duration).toBeGreaterThan(cutAt + 2);
  const recording = await readRecording(meeting);
  expectLength(recording?.duration, seconds);
  expect(recording?.status).toBe('available');
  await again.close();
});

/** Makes every picture of a recording slow to draw, and counts them. */
const DRAW_SLOWLY = `
  globalThis.drawn = 0;
  const draw = CanvasRenderingContext2D.prototype.fillRect;
  CanvasRenderingContext2D.prototype.fillRect = function (x, y, width, height) {
    if (width === 1280 && height === 720) {
      drawn += 1;
      for (const until = performance.now() + 100; performance.now() < until; );
    }
    return draw.call(this, x, y, width, height);
  };
`;

journey('a page that draws slowly records fewer pictures, and does all else at once', async ({ open }) => {
  const { room } = await newRoom();
  const page = await open(`${site.url}/recorder.html`);
  await join(page, { roomName: room.name, name: 'Grace Guest' });
  await page.evaluate(DRAW_SLOWLY);
  await startRecording(page);
  await expect.poll(() => page.evaluate('drawn')).toBeGreaterThan(10);
  const drawnMeanwhile = `(async () => {
    const before = drawn;
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setTimeout(resolve, 0));
    return drawn - before;
  })()`;
  expect(await page.evaluate(drawnMeanwhile)).toBeLessThanOrEqual(5);
  await page.evaluate('recorder.stop()');
  await page.evaluate('meeting.leave()');
});

journey('the page of a meeting records it, and sends the rest after its host has left', async ({ open }) => {
  const meeting = await newRoom();
  const { team, room } = meeting;
  const guest = await open(`${site.url}/room/${room.name}`);
  await guest.getByLabel('Name').fill('Grace Guest');
  await guest.getByRole('button', { name: 'Join', exact: true }).click();
  const member = await open(`${site.url}/room/${room.name}`, team.owner);
  await member.getByRole('button', { name: 'Join', exact: true }).click();
  await guest.getByText(team.owner.name).first().waitFor();
  await member.getByRole('button', { name: 'Record', exact: true }).click();
  await member.getByRole('button', { name: 'Stop recording' }).waitFor();
  await guest.getByRole('button', { name: 'Stay' }).click();
  await sleep(4_000);
  site.cut();
  await member.getByRole('button', { name: 'Leave', exact: true }).click();
  await member.getByText('Sending the recording…').waitFor();
  site.repair();
  await member.getByText('The recording was sent.').waitFor();
  await expect.poll(async () => (await readRecording(meeting))?.status).toBe('available');
  expect((await readRecording(meeting))?.duration).toBeGreaterThanOrEqual(3);
});

/** A quarter of a minute of the test picture. */
const FEW_BYTES = 1_500_000;

journey('a recording says that it will reach its maximum size, and ends there', async (world) => {
  const smallDir = await makeTempDir();
  const small = startServer({ DATA_DIR: smallDir, RECORDING_MAX_BYTES: String(FEW_BYTES) });
  try {
    const url = await small.ready;
    const meeting = await newRoom(url);
    const { team, room } = meeting;
    const page = await world.open(`${url}/room/${room.name}`, team.owner);
    await page.getByRole('button', { name: 'Join', exact: true }).click();
    await page.getByRole('button', { name: 'Record', exact: true }).click();
    await page.getByText('reaches its maximum size in about five minutes').waitFor();
    await page.getByText('has reached its maximum size, and has ended').waitFor({ timeout: 150_000 });
    await page.getByRole('button', { name: 'Record', exact: true }).waitFor();
    await expect.poll(async () => (await readRecording(meeting))?.status).toBe('available');
    const { body } = await createHttp(url).get(`/api/dashboard/rooms/${room.name}/recordings`, team.owner.token);
    expect(body.recordings).toMatchObject([{ status: 'available' }]);
    expect(body.recordings[0].duration).toBeGreaterThanOrEqual(5);
  } finally {
    await stopServer(small);
    await rm(smallDir, { recursive: true, force: true });
  }
});

let firefox: Promise<Firefox> | undefined;
afterAll(async () => (await firefox)?.close());

if (firefoxPath !== undefined)
  journey('a meeting that Firefox has recorded plays in Chromium', async (world) => {
    const { team, room } = await newRoom();
    const meeting = { team, room };
    firefox = startFirefox();
    const inFirefox = await openInFirefox(await firefox, `${site.url}/recorder.html`, team.owner.token);
    const evaluates = { evaluate: (script: string) => inFirefox.evaluate(script) };
    await join(evaluates, { roomName: room.name });
    await startRecording(evaluates);
    await sleep(5_000);
    await evaluates.evaluate('recorder.stop()');
    await expect.poll(() => readState(evaluates, 'status')).toBe('idle');
    expect([await readState(evaluates, 'error'), await readState(evaluates, 'notice')]).toEqual([null, null]);
    await inFirefox.close();
    await expect.poll(async () => (await readRecording(meeting))?.status).toBe('available');
    const recording = await readRecording(meeting);
    expect(recording?.duration).toBeGreaterThanOrEqual(2);
    expect(recording?.poster_url).not.toBeNull();

    const page = await world.open(`${site.url}/w/${team.id}/rooms/${room.name}`, team.owner);
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.getByLabel(/^Video Recording/).waitFor();
    const read = (expression: string) => page.evaluate(`((video) => ${expression})(document.querySelector('video'))`);
    await expect.poll(() => read('video.readyState')).toBeGreaterThanOrEqual(1);
    await read('{ video.muted = true; video.currentTime = video.duration / 2; void video.play(); }');
    await expect.poll(() => read('video.currentTime > video.duration * 0.6')).toBe(true);
    expect(await read('video.webkitAudioDecodedByteCount > 0')).toBe(true);
    expect(await read('[video.videoWidth, video.videoHeight]')).toEqual([1280, 720]);
  });
