/**
 * Meetings that a LiveKit server carries, on the page of a room. The server is that of the tests, and the page has a
 * stub of LiveKit's client: a LiveKit server has never been there.
 */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EgressStatus } from '@livekit/protocol';
import S3rver from 's3rver';
import { afterAll, beforeAll, expect } from 'vitest';
import { root } from '../../client/packed-client.ts';
import { type LivekitServer, startLivekitServer } from '../../livekit/livekit-server.ts';
import { createHttp } from '../../support/http.ts';
import { startServer, stopServer } from '../../support/server-process.ts';
import { makeTempDir } from '../../support/temp-dir.ts';
import type { TestApp } from '../../support/test-app.ts';
import { addTeam } from '../../support/world.ts';
import { clickInFrame } from './support/click-in-frame.ts';
import { startEmbeddingSite } from './support/embedding-site.ts';
import { expectAccessible, expectFitsPhone, type Journey, journey } from './support/journey.ts';
import { stubLivekit } from './support/livekit-stub.ts';
import { expectAllSeeAndHear, joinMeeting, openRoom, tileOf } from './support/meeting-pages.ts';

const key = { api_key: 'APIaVrrHMBeyNGD', api_secret: 'the API secret of LiveKit' };

let server: LivekitServer;
beforeAll(async () => {
  server = await startLivekitServer(key);
});
afterAll(() => server[Symbol.asyncDispose]());

async function createRoom({ newTeam }: Journey) {
  const team = await newTeam();
  const { id, owner } = team;
  const { room } = await owner.client.rooms.create.mutate({ workspace_id: id });
  const credentials = { ...key, url: server.url };
  const { connection } = await owner.client.connections.create.mutate({
    id,
    name: 'Video',
    provider: 'livekit',
    credentials,
  });
  const rotate = () => owner.client.connections.rotate.mutate({ id, connectionId: connection.id, credentials });
  return { owner, roomName: room.name, rotate };
}

journey('a LiveKit server carries a meeting on the same page, with chat, muting and a recording', async (world) => {
  const { owner, roomName, rotate } = await createRoom(world);
  const host = await openRoom(world, roomName, { person: owner });
  const guest = await openRoom(world, roomName);
  const asked = [await stubLivekit(host), await stubLivekit(guest)];
  await joinMeeting(host);
  await joinMeeting(guest, 'Gus Guest');
  await expectAllSeeAndHear([host, guest]);
  expect(asked.map(({ length }) => length)).toEqual([1, 1]);
  // Each page is on the server once, by the token for it.
  expect(server.rooms.get(roomName)?.size).toBe(2);
  await expectAccessible(host);

  await host.getByRole('button', { name: 'Chat', exact: true }).click();
  await host.getByLabel('Message', { exact: true }).fill('Hello over LiveKit');
  await host.keyboard.press('Enter');
  await guest.getByRole('button', { name: /^Chat/ }).click();
  await guest.getByRole('log').getByText('Hello over LiveKit').waitFor();

  // Without anything but what the server has: the page records what it shows.
  await host.getByRole('button', { name: 'Record', exact: true }).click();
  await guest.getByRole('alertdialog').getByRole('button', { name: 'Stay' }).click();
  await guest.getByText('This meeting is being recorded').waitFor();
  await host.waitForTimeout(2_000);
  await host.getByRole('button', { name: 'Stop recording' }).click();
  const read = async () => (await owner.client.recordings.listInRoom.query({ name: roomName })).recordings[0];
  await expect.poll(async () => (await read())?.status).toBe('available');

  // A newer token, which comes before the next list of the others, ends no connection, and is for the next one.
  await rotate();
  await guest.getByRole('button', { name: 'Mute', exact: true }).click();
  await tileOf(host, 'Gus Guest').getByRole('img', { name: 'Muted' }).waitFor();
  await guest.getByRole('button', { name: 'Unmute', exact: true }).click();
  expect(await host.evaluate('livekit.tokens.length')).toBe(1);
  // A restart of the server: both connect again, and send what they sent.
  server.disconnectPages();
  await expect.poll(() => host.evaluate('livekit.tokens.length')).toBe(2);
  expect(await host.evaluate('new Set(livekit.tokens).size')).toBe(2);
  await expectAllSeeAndHear([host, guest]);

  await host.getByRole('button', { name: 'People', exact: true }).click();
  await host.getByRole('button', { name: 'Ask all to mute' }).click();
  await guest.getByRole('button', { name: 'Unmute', exact: true }).waitFor();
  await tileOf(host, 'Gus Guest').getByRole('img', { name: 'Muted' }).waitFor();
  await guest.getByRole('button', { name: 'Unmute', exact: true }).click();
  await tileOf(host, 'Gus Guest').getByRole('img', { name: 'Muted' }).waitFor({ state: 'detached' });
  await expectAllSeeAndHear([host, guest]);

  await host.getByRole('button', { name: 'Remove Gus Guest' }).click();
  await guest.getByText('A host has removed you').waitFor();
  await expect.poll(() => server.rooms.get(roomName)?.size).toBe(1);
});

journey('a page whose workspace gets a LiveKit server goes on there, and loads its client only then', async (world) => {
  const { id, owner } = await world.newTeam();
  const { room } = await owner.client.rooms.create.mutate({ workspace_id: id });
  const page = await openRoom(world, room.name);
  const asked = await stubLivekit(page);
  await joinMeeting(page, 'Gus Guest');
  expect(asked).toEqual([]);
  const credentials = { ...key, url: server.url };
  await owner.client.connections.create.mutate({ id, name: 'Video', provider: 'livekit', credentials });
  // As a person who comes back to the page, which asks at once. Its document may not connect to the server, so the page
  // loads again: it may be about to by itself, and then never answers.
  void page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`).catch(() => {});
  await expect.poll(() => server.rooms.get(room.name)?.size).toBe(1);
  await tileOf(page, 'Gus Guest').waitFor();
  expect(asked).toHaveLength(1);
});

/** A service whose operator has a LiveKit server that records into a bucket, and a room there. */
async function startRecordingService(cleanup: AsyncDisposableStack) {
  const dir = await makeTempDir();
  cleanup.defer(() => rm(dir, { recursive: true, force: true }));
  const directory = join(dir, 's3');
  const configureBuckets = [{ name: 'test-bucket', configs: [] }];
  const s3 = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets });
  const { port } = await s3.run();
  cleanup.defer(() => s3.close());
  const service = startServer({
    DATA_DIR: join(dir, 'data'),
    S3_BUCKET: 'test-bucket',
    S3_ENDPOINT: `http://127.0.0.1:${port}`,
    ...{ S3_ACCESS_KEY_ID: 'S3RVER', S3_SECRET_ACCESS_KEY: 'S3RVER' },
    LIVEKIT_URL: server.url,
    ...{ LIVEKIT_API_KEY: key.api_key, LIVEKIT_API_SECRET: key.api_secret },
    ...{ LIVEKIT_EGRESS_S3_ACCESS_KEY_ID: 'S3RVER', LIVEKIT_EGRESS_S3_SECRET_ACCESS_KEY: 'S3RVER' },
  });
  cleanup.defer(async () => void (await stopServer(service)));
  const url = await service.ready;
  // `as`: a team is created over HTTP, and needs nothing else of an app.
  const { id, owner } = await addTeam({ url, http: createHttp(url) } as TestApp);
  const { room } = await owner.client.rooms.create.mutate({ workspace_id: id, who_may_record: 'hosts' });
  server.egress.started.clear();
  const readRecordings = async () => {
    const { recordings } = await owner.client.recordings.listInRoom.query({ name: room.name });
    return recordings.map(({ status }) => status);
  };
  return { url, id, owner, roomName: room.name, readRecordings };
}

journey('the LiveKit server of the operator records, and the page captures nothing', async (world) => {
  await using cleanup = new AsyncDisposableStack();
  const { url, owner, roomName, readRecordings } = await startRecordingService(cleanup);
  server.egress.file = await readFile(join(root, 'examples/sample.mp4'));

  const page = await openRoom(world, roomName, { person: owner, url, prepare: 'MediaRecorder = undefined;' });
  await stubLivekit(page);
  await joinMeeting(page);
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await page.getByText('This meeting is being recorded').waitFor();
  await expect.poll(() => server.egress.started.size).toBe(1);
  await page.getByRole('button', { name: 'Stop recording' }).click();
  await expect.poll(readRecordings).toEqual(['available']);
});

journey('all learn at once that the server could not record, and the page of a host records instead', async (world) => {
  await using cleanup = new AsyncDisposableStack();
  const { url, id, owner, roomName, readRecordings } = await startRecordingService(cleanup);
  const site = await startEmbeddingSite(url);
  cleanup.defer(() => site.close());
  await owner.client.workspaces.rename.mutate({ id, embed_origins: [site.origin] });
  const host = await openRoom(world, roomName, { person: owner, url });
  await stubLivekit(host);
  await joinMeeting(host);
  const product = await world.open(`${site.origin}/?room=${roomName}`);
  await stubLivekit(product);
  await product.evaluate(`globalThis.told = []; addEventListener('message', ({ data }) => told.push(data))`);
  const guest = product.frameLocator('iframe');
  await guest.getByLabel('Name').fill('Gus Guest');
  await clickInFrame(guest.getByRole('button', { name: 'Join', exact: true }));
  await tileOf(host, 'Gus Guest').waitFor();

  const stay = () => clickInFrame(guest.getByRole('alertdialog').getByRole('button', { name: 'Stay' }));
  server.egress.file = null;
  await host.getByRole('button', { name: 'Record', exact: true }).click();
  await stay();
  await guest.getByText('This meeting is being recorded').waitFor();
  await expect.poll(() => server.egress.started.size).toBe(1);
  await server.egress.finish('EG_0', EgressStatus.EGRESS_FAILED);
  const failure = 'The recording has failed. This meeting is not being recorded.';
  for (const page of [host, guest]) {
    await page.getByText(failure).waitFor();
    expect(await page.getByText('This meeting is being recorded').count()).toBe(0);
  }
  // Who may not record is told, and asked for nothing.
  expect(await guest.getByRole('button', { name: /^Record/ }).count()).toBe(0);
  const readTold = () => product.evaluate<unknown[]>('told');
  await expect.poll(readTold).toContainEqual({ lynxroom: 1, event: 'recording', isRecording: false });
  const said = { lynxroom: 1, event: 'error', code: 'RECORDING_FAILED', message: failure };
  await expect.poll(readTold).toContainEqual(said);
  await expectAccessible(host);
  await expectFitsPhone(host);

  // The server again, which says that it has recorded, but has stored nothing.
  await host.getByRole('button', { name: 'Record again' }).click();
  await stay();
  await host.getByText(failure).waitFor({ state: 'detached' });
  await expect.poll(() => server.egress.started.size).toBe(2);
  await server.egress.finish('EG_1', EgressStatus.EGRESS_COMPLETE);
  await guest.getByText(failure).waitFor();
  await guest.getByRole('button', { name: 'Dismiss' }).click();
  await guest.getByText(failure).waitFor({ state: 'detached' });

  await host.getByRole('button', { name: 'Record in this browser' }).click();
  await stay();
  await host.getByText(failure).waitFor({ state: 'detached' });
  await host.waitForTimeout(2_000);
  await host.getByRole('button', { name: 'Stop recording' }).click();
  await expect.poll(readRecordings).toEqual(['available', 'failed', 'failed']);
  expect(await guest.getByText(failure).count()).toBe(0);
  const told = await readTold();
  expect(told.filter((message) => JSON.stringify(message) === JSON.stringify(said))).toHaveLength(2);
});
