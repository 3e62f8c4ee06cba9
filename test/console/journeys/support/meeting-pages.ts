/** Pages in a meeting: how they enter it, and what they receive from the others. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Person } from '../../../support/world.ts';
import type { Journey } from './journey.ts';

export type Camera = { width: number; height: number; frameRate: number };
export const LARGE: Camera = { width: 1280, height: 720, frameRate: 20 };
/** What a machine with two cores decodes many times. */
export const SMALL: Camera = { width: 160, height: 90, frameRate: 5 };

/**
 * Runs before the page: it makes the pictures of the camera as large as asked, and finds the connections. Nobody hears
 * an echo in the sound of the browser, and looking for it costs as much as sending the pictures.
 */
const PREPARE = `(camera) => {
  const sound = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  const getUserMedia = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = (constraints) =>
    getUserMedia({
      audio: constraints.audio && { ...constraints.audio, ...sound },
      video: constraints.video && { ...constraints.video, ...camera },
    });
  globalThis.connections = [];
  globalThis.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(...settings) {
      super(...settings);
      connections.push(this);
    }
  };
}`;

/** Opens the page of a room in a browser context of its own, with a camera of this size. */
export async function openRoom(
  world: Journey,
  roomName: string,
  {
    person,
    camera = SMALL,
    prepare = '',
    url = world.url,
  }: { person?: Person; camera?: Camera; prepare?: string; url?: string } = {},
): Promise<Page> {
  const page = await world.open(new URL('/robots.txt', url).href, person);
  await page.addInitScript(`(${PREPARE})(${JSON.stringify(camera)}); ${prepare}`);
  await page.goto(new URL(`/room/${roomName}`, url).href);
  await page.getByLabel('Name').waitFor();
  return page;
}

/** Joins from the lobby. A signed-in person has a name. */
export async function joinMeeting(page: Page, name?: string): Promise<void> {
  if (name !== undefined) await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByRole('button', { name: 'Leave' }).waitFor();
}

/** What arrives over one connection. */
type Received = { pictures: number; energy: number; width: number };

/** What arrives over each open connection of a page, since it was made. */
export async function readReceived(page: Page): Promise<Received[]> {
  return page.evaluate<Received[]>(`(async () => {
    const open = connections.filter(({ connectionState }) => connectionState === 'connected');
    return Promise.all(open.map(async (connection) => {
      const received = { pictures: 0, energy: 0, width: 0 };
      for (const entry of (await connection.getStats()).values()) {
        if (entry.type !== 'inbound-rtp') continue;
        received.pictures += entry.framesDecoded ?? 0;
        received.energy += entry.totalAudioEnergy ?? 0;
        received.width = Math.max(received.width, entry.frameWidth ?? 0);
      }
      return received;
    }));
  })()`);
}

/** How often the pages are looked at, and for how long. A slow machine has enough to do with the meeting. */
const POLL = { interval: 500, timeout: 240_000 };

/** Waits until a page is connected to so many others. */
export async function expectConnected(page: Page, others: number): Promise<void> {
  await expect.poll(async () => (await readReceived(page)).length, POLL).toBe(others);
}

/** Waits until every page decodes pictures and hears sound of all others, and shows a tile with a picture of each. */
export async function expectAllSeeAndHear(pages: readonly Page[]): Promise<void> {
  try {
    for (const page of pages) {
      const isSeenAndHeard = async () =>
        (await readReceived(page)).filter(({ pictures, energy }) => pictures > 5 && energy > 0).length;
      await expect.poll(isSeenAndHeard, POLL).toBe(pages.length - 1);
      await expect.poll(() => page.evaluate(PICTURES), POLL).toBe(pages.length);
    }
  } catch (error) {
    const described = await Promise.all(pages.map((page) => page.evaluate(CONNECTIONS)));
    process.stderr.write(`The connections of the pages:\n${described.map((one) => JSON.stringify(one)).join('\n')}\n`);
    throw error;
  }
}

/** What tells why something does not arrive. */
const CONNECTIONS = `Promise.all(connections.map(async (connection) => {
  const [inbound, outbound] = [[], []];
  for (const entry of (await connection.getStats()).values()) {
    const { type, kind, mid, packetsLost } = entry;
    if (type === 'inbound-rtp')
      inbound.push([kind, mid, entry.packetsReceived, packetsLost, entry.framesDecoded, entry.totalAudioEnergy]);
    if (type === 'outbound-rtp')
      outbound.push([kind, mid, entry.packetsSent, entry.framesEncoded, entry.qualityLimitationReason]);
    if (type === 'remote-inbound-rtp') outbound.push(['lost by the other', kind, packetsLost, entry.fractionLost]);
  }
  const transceivers = connection.getTransceivers().map(({ mid, direction, currentDirection, sender }) =>
    [mid, direction, currentDirection, sender.track?.kind, sender.getParameters().encodings?.[0]?.active]);
  const { connectionState, iceConnectionState, signalingState } = connection;
  return { connectionState, iceConnectionState, signalingState, inbound, outbound, transceivers };
}))`;

/** How many tiles show a picture that is not only black. */
const PICTURES = `[...document.querySelectorAll('[data-participant] video')].filter((video) => {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [16, 9];
  const context = canvas.getContext('2d');
  context.drawImage(video, 0, 0, 16, 9);
  return context.getImageData(0, 0, 16, 9).data.some((value, index) => index % 4 !== 3 && value > 40);
}).length`;

/** The tile of a person. */
export function tileOf(page: Page, name: string) {
  return page.getByRole('list', { name: 'In the meeting' }).getByRole('listitem').filter({ hasText: name });
}
