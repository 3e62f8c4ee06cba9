/**
 * `node scripts/take-screenshots.ts`: takes the pictures of the console in `docs/images`, from a server with data of
 * its own. It needs chromium, ffmpeg, the built console, and the packages of `tools/browser-test`. With names of
 * pictures, such as `meeting`, it takes only these.
 */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '../packages/client/src/index.ts';
import { root } from '../test/client/packed-client.ts';
import { chromiumPath } from '../test/consumer/browser.ts';
import { startServer, stopServer } from '../test/support/server-process.ts';
import { makeTempDir } from '../test/support/temp-dir.ts';
import { openMeeting } from './meeting-picture.ts';

const DESKTOP = { width: 1200, height: 720 };
const PHONE = { width: 390, height: 720 };
const PASSWORD = 'correct horse battery staple';
const FILES = [
  'Contract Meyer.pdf',
  'Kick-off recording.mp4',
  'Price list 2027.pdf',
  'Product tour.mp4',
  'Prüfbericht Łódź.pdf',
];
const PEOPLE = ['Grace Hopper', 'Alan Turing', 'Katherine Johnson', 'Edsger Dijkstra'];
const WEEK = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] as const;
const ROOMS = [
  { name: 'weekly-sync', display_name: 'Weekly sync', guests: ['Barbara Liskov', 'Donald Knuth', 'Frances Allen'] },
  { name: 'design-review', display_name: 'Design review', guests: ['Radia Perlman', 'Tony Hoare'] },
  { name: 'meyer-kick-off', display_name: 'Kick-off with Meyer & Söhne', guests: ['Mia Meyer'] },
];

const pictures = [
  { name: 'sign-in', path: '/', heading: 'Sign in', isSignedIn: false },
  { name: 'home', path: '', heading: 'Home', isSignedIn: true },
  { name: 'recordings', path: 'recordings', heading: 'Recordings', isSignedIn: true },
  { name: 'library', path: 'library', heading: 'Library', isSignedIn: true },
  { name: 'rooms', path: 'rooms', heading: 'Rooms', isSignedIn: true },
  { name: 'analytics', path: 'analytics', heading: 'Analytics', isSignedIn: true },
  { name: 'members', path: 'members', heading: 'Members', isSignedIn: true },
];
const variants = [
  { suffix: '', viewport: DESKTOP, colorScheme: 'light' },
  { suffix: '-dark', viewport: DESKTOP, colorScheme: 'dark' },
  { suffix: '-phone', viewport: PHONE, colorScheme: 'light' },
] as const;

const wanted = process.argv.slice(2);
const isWanted = (name: string): boolean => wanted.length === 0 || wanted.includes(name);

const dataDir = await makeTempDir();
const server = startServer({ DATA_DIR: dataDir });
try {
  const url = await server.ready;
  const data = await createData(url);
  await takePictures(url, data);
  if (isWanted('meeting')) await takeMeeting(url, data);
} finally {
  await stopServer(server);
  await rm(dataDir, { recursive: true, force: true });
}

/** Creates a workspace with a few people, files and rooms. */
async function createData(url: string): Promise<{ token: string; id: number }> {
  const anonymous = createClient({ url });
  const { token } = await anonymous.auth.register.mutate({
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    password: PASSWORD,
  });
  const ada = createClient({ url, token });
  const { workspace } = await ada.workspaces.create.mutate({ name: 'Design team' });
  const { id } = workspace;
  const invite = await ada.workspaces.invite.mutate({ id });
  for (const name of PEOPLE) {
    const email = `${name.split(' ')[0]?.toLowerCase()}@example.com`;
    const person = await anonymous.auth.register.mutate({ name, email, password: PASSWORD });
    await createClient({ url, token: person.token }).workspaces.join.mutate({ token: invite.token });
  }
  for (const name of FILES) {
    const isVideo = name.endsWith('.mp4');
    const bytes = await readFile(join(root, isVideo ? 'examples/sample.mp4' : 'examples/sample.pdf'));
    const file = new File([bytes], name, { type: isVideo ? 'video/mp4' : 'application/pdf' });
    await ada.upload({ id, file });
  }
  for (const { name, display_name, guests } of ROOMS) {
    await ada.rooms.create.mutate({ workspace_id: id, name, display_name });
    for (const guest of guests) {
      const email = `${guest.split(' ')[0]?.toLowerCase()}@example.org`;
      await anonymous.participants.join.mutate({ roomName: name, name: guest, email });
    }
  }
  for (const title of ['Product tour with Meyer & Söhne', 'Interview for the annual report']) {
    const { recording, upload_token } = await ada.recordings.start.mutate({ name: 'design-review', title });
    await ada.recordings.stop.mutate({ name: 'design-review', recordingId: recording.id });
    const file = new File([await readFile(join(root, 'examples/sample.mp4'))], 'a.mp4', { type: 'video/mp4' });
    await anonymous.uploadRecording({ recordingId: recording.id, uploadToken: upload_token, file });
  }
  const hours = WEEK.map((day) => ({ day, from: '09:00', to: '17:00' }));
  const page = { id, title: 'Intro call', slug: 'intro', duration_minutes: 30, time_zone: 'UTC', hours };
  await ada.bookingPages.create.mutate(page);
  const { times } = await anonymous.bookings.times.query({ slug: 'intro' });
  for (const [index, name] of ['Vera Novak', 'Luis Ortega'].entries()) {
    const email = `${name.split(' ')[0]?.toLowerCase()}@example.org`;
    await anonymous.bookings.book.mutate({ slug: 'intro', name, email, starts_at: times[20 + 7 * index] ?? 0 });
  }
  return { token, id };
}

async function takePictures(url: string, { token, id }: { token: string; id: number }): Promise<void> {
  // Playwright is not a dependency of this project.
  const { chromium } = await import(join(root, 'tools/browser-test/node_modules/playwright-core/index.mjs'));
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
  for (const { name, path, heading, isSignedIn } of pictures.filter((one) => isWanted(one.name))) {
    for (const { suffix, viewport, colorScheme } of variants) {
      const context = await browser.newContext({ viewport, colorScheme, locale: 'en-GB', reducedMotion: 'reduce' });
      if (isSignedIn) await context.addCookies([{ name: 'session', value: token, url, httpOnly: true }]);
      const page = await context.newPage();
      // A page with an open stream is never idle.
      await page.route('**/trpc/events.live*', (route: { abort(): Promise<void> }) => route.abort());
      await page.goto(isSignedIn ? `${url}/w/${id}/${path}` : `${url}${path}`);
      await page.getByRole('heading', { name: heading }).first().waitFor();
      await page.waitForLoadState('networkidle');
      const file = join(root, `docs/images/console-${name}${suffix}.jpg`);
      await page.screenshot({ path: file, type: 'jpeg', quality: 75 });
      await context.close();
    }
  }
  await browser.close();
}

/** A meeting with several people, as the host sees it. */
async function takeMeeting(url: string, { token, id }: { token: string; id: number }): Promise<void> {
  const host = createClient({ url, token });
  const { room } = await host.rooms.create.mutate({ workspace_id: id, display_name: 'Design review of the week' });
  const dir = await makeTempDir();
  const { page, close } = await openMeeting({ url, token, roomName: room.name, dir });
  for (const { suffix, viewport, colorScheme } of variants) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    if (suffix === '-dark') await page.getByRole('button', { name: 'People', exact: true }).click();
    if (suffix === '-phone') await page.getByRole('button', { name: 'Close the panel' }).click();
    // The pictures of the cameras are decoded anew in their new size.
    await page.waitForTimeout(1_000);
    const file = join(root, `docs/images/console-meeting${suffix}.jpg`);
    await page.screenshot({ path: file, type: 'jpeg', quality: 80 });
  }
  await close();
  await rm(dir, { recursive: true, force: true });
}
