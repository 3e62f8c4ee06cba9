/** The picture of a meeting in the docs: people whose cameras show drawings. `take-screenshots.ts` takes it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../test/client/packed-client.ts';
import { chromiumPath } from '../test/consumer/browser.ts';

/** Where the meeting is, and a directory for the films. */
export type MeetingInput = { url: string; token: string; roomName: string; dir: string };

const CAMERA = { width: 640, height: 360 };

type Look = { name: string; wall: string; light: string; shirt: string; skin: string; hair: string; isLong: boolean };

const LOOKS: readonly Look[] = [
  {
    name: 'Ada Lovelace',
    wall: '#c9d6df',
    light: '#e9f1f5',
    shirt: '#4f46e5',
    skin: '#f1c9a5',
    hair: '#4a2f1d',
    isLong: true,
  },
  {
    name: 'Grace Hopper',
    wall: '#e8d9c5',
    light: '#f7efe3',
    shirt: '#1f3a5f',
    skin: '#f3d3b8',
    hair: '#b9b4ad',
    isLong: false,
  },
  {
    name: 'Alan Turing',
    wall: '#b9cbb5',
    light: '#dbe7d7',
    shirt: '#7a4b2a',
    skin: '#eac09c',
    hair: '#2d211a',
    isLong: false,
  },
  {
    name: 'Katherine Johnson',
    wall: '#d9c7dd',
    light: '#efe4f1',
    shirt: '#b3475f',
    skin: '#9a6442',
    hair: '#1d1512',
    isLong: true,
  },
];

const COUNT_PICTURES = '(videos) => videos.filter(({ videoWidth }) => videoWidth > 0).length';

/** Opens a meeting with a signed-in host and three guests. Returns the page of the host, and ends the meeting. */
export async function openMeeting({ url, token, roomName, dir }: MeetingInput) {
  const chromium = await loadChromium();
  const browsers: { close(): Promise<void> }[] = [];
  const pages = [];
  for (const [index, look] of LOOKS.entries()) {
    const file = await makeCamera(look, join(dir, `camera-${index}`));
    // Each browser has one fake camera.
    const browser = await chromium.launch({
      ...(chromiumPath !== undefined && { executablePath: chromiumPath }),
      args: [
        ...['--no-sandbox', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
        ...[`--use-file-for-fake-video-capture=${file}`, '--mute-audio'],
      ],
    });
    browsers.push(browser);
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1200, height: 720 } });
    if (index === 0) await context.addCookies([{ name: 'session', value: token, url, httpOnly: true }]);
    const page = await context.newPage();
    pages.push(page);
    await page.goto(`${url}/room/${roomName}`);
    await page.getByLabel('Name').fill(look.name);
    await page.getByRole('button', { name: 'Join', exact: true }).click();
    await page.getByRole('button', { name: 'Leave' }).waitFor();
    if (index > 1) await page.getByRole('button', { name: 'Mute', exact: true }).click();
  }
  const [page] = pages;
  if (page === undefined) throw new Error('Nobody is in the meeting');
  // Not `waitForFunction`, whose script the policy of the page refuses.
  const pictures = page.locator('[data-participant] video');
  while ((await pictures.evaluateAll(COUNT_PICTURES)) < LOOKS.length) await page.waitForTimeout(500);
  return {
    page,
    async close() {
      await Promise.all(browsers.map((browser) => browser.close()));
    },
  };
}

/** Playwright is not a dependency of this project, so it has no types here. */
async function loadChromium() {
  return (await import(join(root, 'tools/browser-test/node_modules/playwright-core/index.mjs'))).chromium;
}

/** Draws a person, and makes a film of the drawing, which ffmpeg must be installed for. Returns its path. */
async function makeCamera(look: Look, path: string): Promise<string> {
  const chromium = await loadChromium();
  const browser = await chromium.launch({
    ...(chromiumPath !== undefined && { executablePath: chromiumPath }),
    args: ['--no-sandbox'],
  });
  const page = await browser.newPage({ viewport: CAMERA });
  await page.setContent(drawPerson(look));
  await page.screenshot({ path: `${path}.png` });
  await browser.close();
  const film = ['-loop', '1', '-i', `${path}.png`, '-t', '2', '-r', '10', '-q:v', '3', '-pix_fmt', 'yuvj420p'];
  await promisify(execFile)('ffmpeg', ['-y', '-loglevel', 'error', ...film, `${path}.mjpeg`]);
  return `${path}.mjpeg`;
}

function drawPerson({ wall, light, shirt, skin, hair, isLong }: Look): string {
  const longHair = `<path d="M238 150 q-22 130 6 170 h152 q28 -40 6 -170z" fill="${hair}"/>`;
  return `<body style="margin:0"><svg width="640" height="360" viewBox="0 0 640 360">
    <rect width="640" height="360" fill="${wall}"/>
    <rect x="40" y="30" width="150" height="180" rx="6" fill="${light}"/>
    <path d="M115 30 v180 M40 120 h150" stroke="${wall}" stroke-width="6"/>
    <rect x="470" y="90" width="150" height="10" rx="3" fill="${light}"/>
    <rect x="485" y="46" width="16" height="44" fill="${shirt}" opacity="0.55"/>
    <rect x="505" y="38" width="14" height="52" fill="${hair}" opacity="0.5"/>
    <rect x="523" y="52" width="18" height="38" fill="${light}"/>
    <ellipse cx="585" cy="72" rx="20" ry="18" fill="#6f9a6a"/>
    ${isLong ? longHair : ''}
    <path d="M150 360 q10 -95 120 -108 h100 q110 13 120 108z" fill="${shirt}"/>
    <path d="M286 210 h68 v46 q-34 34 -68 0z" fill="${skin}"/>
    <path d="M286 226 q34 30 68 0 v12 q-34 30 -68 0z" fill="#000" opacity="0.08"/>
    <ellipse cx="320" cy="150" rx="72" ry="88" fill="${skin}"/>
    <path d="M244 150 q-10 -100 76 -104 q86 4 76 104 q-12 -54 -44 -66 q-70 20 -96 4 q-10 24 -12 62z" fill="${hair}"/>
    <ellipse cx="293" cy="152" rx="6" ry="7" fill="#2b2320"/><ellipse cx="347" cy="152" rx="6" ry="7" fill="#2b2320"/>
    <path d="M294 192 q26 22 52 0" stroke="#7c3b34" stroke-width="5" fill="none" stroke-linecap="round"/>
  </svg></body>`;
}
