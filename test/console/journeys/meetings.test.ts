/** The client's module of meetings in real browsers, with fake cameras and microphones. */
import type { Browser as Firefox, Page as FirefoxPage } from 'puppeteer-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import type { Person } from '../../support/world.ts';
import { startFirefox } from './support/firefox.ts';
import { firefoxPath } from './support/firefox-path.ts';
import { type Journey, journey } from './support/journey.ts';
import { type MeetingPage, toMeetingPage } from './support/meeting-page.ts';
import { type MeetingSite, startMeetingSite } from './support/meeting-site.ts';

/** How soon a meeting must come back by itself. */
const MAX_REPAIR_MS = 20_000;

/**
 * Pictures of another size than those of the cameras. Neither drawn on a canvas nor shown in an element: a page in the
 * background may draw nothing.
 */
const SCREEN = 'navigator.mediaDevices.getUserMedia({ video: { width: 320, height: 240 } })';

let site: MeetingSite;
let firefox: Promise<Firefox> | undefined;
beforeAll(async () => {
  site = await startMeetingSite();
});
afterAll(async () => {
  await (await firefox)?.close();
  await site.close();
});

async function newRoom({ newTeam }: Journey): Promise<{ owner: Person; roomName: string }> {
  const { id, owner } = await newTeam();
  const { room } = await owner.client.rooms.create.mutate({ workspace_id: id });
  return { owner, roomName: room.name };
}

async function openPage(world: Journey, roomName: string, name: string, url = world.url): Promise<MeetingPage> {
  return toMeetingPage(await world.open(`${site.url}/blank.html`), { site, url, roomName, name });
}

async function openInFirefox({ url }: Journey, roomName: string, name: string): Promise<[MeetingPage, FirefoxPage]> {
  firefox ??= startFirefox();
  const page = await (await firefox).newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${site.url}/blank.html`);
  return [toMeetingPage(page, { site, url, roomName, name }), page];
}

if (firefoxPath !== undefined)
  journey('Chromium and Firefox see and hear each other, and come back after a reload', async (world) => {
    const { roomName } = await newRoom(world);
    const [[inFirefox, page], inChromium] = await Promise.all([
      openInFirefox(world, roomName, 'Fay'),
      openPage(world, roomName, 'Cora'),
    ]);
    const pages = [inFirefox, inChromium];
    for (const one of pages) await one.join();
    await Promise.all(pages.map((one) => one.receiveFrom(1)));

    for (const one of pages) {
      await one.reload();
      await Promise.all(pages.map((other) => other.receiveFrom(1)));
    }

    // Firefox never answers for a connection that is closed meanwhile.
    expect(
      await inFirefox.run(`(async () => {
        const stats = meeting.getStats();
        meeting.leave();
        return (await stats).size;
      })()`),
    ).toBe(0);
    await page.close();
  });

journey('a meeting of three comes back after lost signals, a lost stream and a crossed restart', async (world) => {
  const { roomName } = await newRoom(world);
  const proxy = await startTcpProxy(world.url);
  try {
    const url = proxy.url.replace(/\/$/, '');
    const [ada, bob, cid] = await Promise.all([
      openPage(world, roomName, 'Ada', url),
      openPage(world, roomName, 'Bob'),
      openPage(world, roomName, 'Cid'),
    ]);
    const pages = [ada, bob, cid];
    await Promise.all(pages.map((page) => page.join()));
    await Promise.all(pages.map((page) => page.receiveFrom(2)));

    // Both sides of each connection offer at the same moment.
    await Promise.all(pages.map((page) => page.run(`dispatchEvent(new Event('online'))`)));
    await Promise.all(pages.map((page) => page.receiveFrom(2)));
    await expect
      .poll(() => ada.run('openConnections().every(({ signalingState }) => signalingState === "stable")'))
      .toBe(true);

    // The network has forgotten the stream, and swallows the offers of a restart. Their answers cannot arrive.
    proxy.breakDown();
    await ada.run(`dispatchEvent(new Event('online'))`);
    await expect
      .poll(() => ada.run('openConnections().some((one) => one.signalingState === "have-local-offer")'))
      .toBe(true);
    await expect.poll(() => ada.run('meeting.state')).toBe('reconnecting');
    // Pictures and sounds go on: they do not pass through the service.
    await Promise.all(pages.map((page) => page.receiveFrom(2)));
    proxy.repair();
    expect(await ada.run(`waitFor(() => meeting.state === 'joined')`)).toBeLessThan(MAX_REPAIR_MS);
    await ada.run(`dispatchEvent(new Event('online'))`);
    await expect.poll(() => ada.run('openConnections().every((one) => one.signalingState === "stable")')).toBe(true);
    await Promise.all(pages.map((page) => page.receiveFrom(2)));

    // A connection that the service resets is opened again at once.
    proxy.resetConnections();
    await ada.run(`waitFor(() => meeting.state === 'joined')`);
    expect(await ada.run('states.slice(-1)')).toEqual(['joined']);

    const chat = { from: 'Ada', text: '<b>Hello</b>', isOwn: false };
    await ada.run(`meeting.sendChat(' <b>Hello</b> ')`);
    for (const page of [bob, cid])
      await expect
        .poll(() => page.run('chats.map(({ from, text, isOwn }) => ({ from: from.name, text, isOwn }))'))
        .toEqual([chat]);

    // A shared screen is told apart from the camera, which it does not replace.
    await ada.run(`${SCREEN}.then((screen) => meeting.setTrack('screen', screen.getVideoTracks()[0]))`);
    for (const page of [bob, cid]) {
      await expect
        .poll(() => page.run('meeting.peers.map(({ name, hasScreen }) => name + hasScreen)'))
        .toContain('Adatrue');
      await page.run(`globalThis.shown = meeting.peers.find(({ name }) => name === 'Ada').screen`);
      await expect.poll(() => page.run('readDecodedWidth(shown)')).toBe(320);
    }
    await ada.run(`meeting.setMuted('camera', true)`);
    for (const page of [bob, cid])
      await expect
        .poll(() =>
          page.run(`(({ camera, screen }) => [!!camera, !!screen])(meeting.peers.find(({ name }) => name === 'Ada'))`),
        )
        .toEqual([false, true]);

    // One offer for each of the connections and each time that the network was new, and a few that crossed.
    for (const page of pages) expect(await page.run('offers')).toBeLessThanOrEqual(12);

    // Whoever leaves is gone for the others, and their tracks have ended.
    await ada.run('meeting.leave()');
    await Promise.all([bob, cid].map((page) => page.receiveFrom(1)));
    expect(await bob.run('shown.readyState')).toBe('ended');
  } finally {
    await proxy.close();
  }
});

journey('a connection that ends while it takes a signal is made anew', async (world) => {
  const { roomName } = await newRoom(world);
  const [ada, bob] = await Promise.all([openPage(world, roomName, 'Ada'), openPage(world, roomName, 'Bob')]);
  const pages = [ada, bob];
  // Bob, who joins last, waits for an offer. If his browser wants one earlier, it must not get it.
  await bob.run('globalThis.asksAtOnce = true');
  for (const page of pages) await page.join();
  await Promise.all(pages.map((page) => page.receiveFrom(1)));
  for (const page of pages) {
    // What a closed connection was doing never ends.
    await page.run(`globalThis.stuck = openConnections()[0]; globalThis.isStuck = false;
      stuck.addIceCandidate = () => new Promise(() => { isStuck = true; })`);
    await Promise.all(pages.map((one) => one.run(`dispatchEvent(new Event('online'))`)));
    await expect.poll(() => page.run('isStuck')).toBe(true);
    await page.run('stuck.close()');
    await Promise.all(pages.map((one) => one.receiveFrom(1)));
  }
});

journey('a second page takes over, the first comes back, and a removed person is dark at once', async (world) => {
  const { owner, roomName } = await newRoom(world);
  const [ada, bob, second] = await Promise.all([
    openPage(world, roomName, 'Ada'),
    openPage(world, roomName, 'Bob'),
    openPage(world, roomName, 'Bob'),
  ]);
  await ada.join();
  const { token, id } = await bob.join();
  await Promise.all([ada.receiveFrom(1), bob.receiveFrom(1)]);
  await bob.run('globalThis.sent = meeting.local.camera.track; globalThis.received = meeting.peers[0].camera');

  await second.join(token);
  await expect.poll(() => bob.run('meeting.state')).toBe('elsewhere');
  expect(await bob.run('[sent.readyState, received.readyState, meeting.peers.length]')).toEqual(['ended', 'ended', 0]);
  await Promise.all([ada.receiveFrom(1), second.receiveFrom(1)]);
  expect(await ada.run('meeting.peers.map(({ id }) => id)')).toEqual([id]);

  await bob.run('meeting.comeBack().then(() => giveTracks({ width: 160, height: 90 }))');
  await expect.poll(() => second.run('meeting.state')).toBe('elsewhere');
  await Promise.all([ada.receiveFrom(1), bob.receiveFrom(1)]);

  for (const page of [ada, bob]) await page.run('globalThis.received = meeting.peers[0].camera');
  const dark = (page: MeetingPage) => page.run(`waitFor(() => received.readyState === 'ended')`);
  const [ofAda, ofBob] = await Promise.all([
    dark(ada),
    dark(bob),
    owner.client.participants.remove.mutate({ name: roomName, participantId: id }),
  ]);
  expect(Math.max(ofAda, ofBob)).toBeLessThan(MAX_REPAIR_MS);
  expect(await bob.run('[meeting.state, meeting.endReason]')).toEqual(['ended', 'removed']);
  expect(await ada.run('meeting.peers')).toEqual([]);
});

journey('the example shows two people to each other, and carries what they write', async (world) => {
  const { roomName } = await newRoom(world);
  const address = `${site.url}/?service=${encodeURIComponent(world.url)}&room=${roomName}`;
  const pages = await Promise.all(['Ada', 'Bob'].map(() => world.open(address)));
  const [ada, bob] = pages;
  if (!ada || !bob) throw new Error('There are two pages');
  for (const [page, name] of [
    [ada, 'Ada'],
    [bob, 'Bob'],
  ] as const) {
    await page.getByLabel('Your name').fill(name);
    await page.getByRole('button', { name: 'Join' }).click();
  }
  for (const [page, name] of [
    [ada, 'Bob'],
    [bob, 'Ada'],
  ] as const) {
    const video = `[...document.querySelectorAll('figure')]
      .find((one) => one.innerText.includes('${name}'))?.firstChild`;
    await expect.poll(() => page.evaluate(`${video}?.videoWidth ?? 0`)).toBeGreaterThan(0);
    await expect.poll(() => page.evaluate(`${video}?.currentTime ?? 0`)).toBeGreaterThan(0);
    await expect.poll(() => page.locator('figure').count()).toBe(2);
  }
  await ada.getByLabel('Message').fill('<i>Hello</i>');
  await ada.getByRole('button', { name: 'Send' }).click();
  await bob.getByText('Ada: <i>Hello</i>').waitFor();
  await ada.getByRole('button', { name: 'Mute' }).click();
  await ada.getByRole('button', { name: 'Unmute' }).waitFor();
  await ada.getByRole('button', { name: 'Leave' }).click();
  await ada.getByText('left', { exact: true }).waitFor();
  await expect.poll(() => bob.locator('figure').count()).toBe(1);
});
