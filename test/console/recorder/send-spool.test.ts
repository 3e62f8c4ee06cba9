/** How the recorder of the console sends a recording, over a network that fails. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Refused, sendSpool } from '../../../web/src/meeting/recorder/send-spool.ts';
import { createSpool, type Spool, type SpoolInfo } from '../../../web/src/meeting/recorder/spool.ts';
import { makeMp4 } from '../../support/media.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { createMemoryDevice } from './memory-device.ts';

const FILE = makeMp4({ durationSeconds: 3, moov: 'front', mdatBytes: 20_000 });

let app: TestApp;
let team: Team;
let proxy: TcpProxy;
beforeAll(async () => {
  app = await startTestApp();
});
beforeEach(async () => {
  team = await addTeam(app);
  proxy = await startTcpProxy(app.url);
});
afterEach(() => proxy.close());
afterAll(() => app.close());

async function startRecording(): Promise<SpoolInfo> {
  const { client } = team.owner;
  const { room } = await client.rooms.create.mutate({ workspace_id: team.id });
  const started = await client.recordings.start.mutate({ name: room.name });
  const { recording, upload_token: uploadToken } = started;
  return { recordingId: recording.id, roomName: room.name, uploadToken, extension: 'mp4' };
}

type Sent = { methods: string[]; sizes: number[]; troubles: string[]; received: number };

/** Sends a spool through the proxy, and records what happens. After `crash()` the page sends nothing more. */
function send(spool: Spool): { sent: Sent; done: Promise<void>; crash(): void } {
  let hasCrashed = false;
  const sent: Sent = { methods: [], sizes: [], troubles: [], received: 0 };
  const done = sendSpool({
    spool,
    origin: new URL(proxy.url).origin,
    fetch(url, init) {
      if (hasCrashed) return new Promise(() => {});
      sent.methods.push(init?.method ?? 'GET');
      // `as`: all bodies are blobs.
      if (init?.method === 'PATCH') sent.sizes.push((init.body as Blob).size);
      return fetch(url, init);
    },
    onProgress(received) {
      sent.received = received;
    },
    onTrouble: (error) => error && sent.troubles.push(error.name),
  });
  return {
    sent,
    done,
    crash() {
      hasCrashed = true;
    },
  };
}

/** The bytes of the file in parts, as a browser passes them on. */
function partsOf(count: number): Blob[] {
  const size = Math.ceil(FILE.length / count);
  return Array.from({ length: count }, (_, index) => {
    return new Blob([Uint8Array.from(FILE.subarray(index * size, (index + 1) * size))]);
  });
}

async function readRecording({ recordingId, roomName }: SpoolInfo) {
  const { recordings } = await team.owner.client.recordings.listInRoom.query({ name: roomName });
  return recordings.find(({ id }) => id === recordingId);
}

async function expectComplete(info: SpoolInfo): Promise<void> {
  expect(await readRecording(info)).toMatchObject({ status: 'uploaded', size: FILE.length });
}

test('parts are sent as they are made, and the length at the end', async () => {
  const info = await startRecording();
  const device = createMemoryDevice();
  const spool = createSpool(info, device);
  const { sent, done } = send(spool);
  for (const part of partsOf(4)) {
    await spool.append(part);
    await expect.poll(() => sent.received).toBe(spool.end);
    // The device keeps nothing that the service has.
    await expect.poll(() => device.parts.size).toBe(0);
    expect((await readRecording(info))?.status).toBe('started');
  }
  spool.finish();
  await done;
  expect(sent.methods).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH', 'PATCH', 'PATCH']);
  expect([sent.sizes.at(-1), sent.troubles, device.isCleared]).toEqual([0, [], true]);
  await expectComplete(info);
});

test('what is made without a connection is sent when it is back', async () => {
  const info = await startRecording();
  const device = createMemoryDevice();
  const spool = createSpool(info, device);
  const { sent, done } = send(spool);
  const [first = new Blob([]), ...others] = partsOf(10);
  await spool.append(first);
  await expect.poll(() => sent.received).toBe(first.size);
  proxy.refuse();
  for (const part of others) await spool.append(part);
  spool.finish();
  await expect.poll(() => sent.troubles).toContain('Disconnected');
  expect(device.parts.size).toBe(9);
  proxy.repair();
  await done;
  // In one request.
  expect(sent.sizes.at(-1)).toBe(FILE.length - first.size);
  await expectComplete(info);
});

test('a later page sends what a page has left, without what the service has already', async () => {
  const info = await startRecording();
  const device = createMemoryDevice();
  const left = createSpool(info, device);
  const before = send(left);
  const [first = new Blob([]), ...others] = partsOf(5);
  await left.append(first);
  await expect.poll(() => before.sent.received).toBe(first.size);
  before.crash();
  for (const part of others) await left.append(part);
  const { sent, done } = send(createSpool(info, device, device.find()));
  await done;
  expect(sent.methods).toEqual(['HEAD', 'PATCH']);
  expect(sent.sizes).toEqual([FILE.length - first.size]);
  await expectComplete(info);
});

test('a later page names the length if everything had arrived', async () => {
  const info = await startRecording();
  const device = createMemoryDevice();
  const left = createSpool(info, device);
  const before = send(left);
  await left.append(new Blob([Uint8Array.from(FILE)]));
  await expect.poll(() => before.sent.received).toBe(FILE.length);
  await expect.poll(() => device.parts.size).toBe(0);
  before.crash();
  const { sent, done } = send(createSpool(info, device, device.find()));
  await done;
  expect([sent.methods, sent.sizes]).toEqual([['HEAD', 'PATCH'], [0]]);
  await expectComplete(info);
});

test('an upload whose URL was lost is created again', async () => {
  const info = await startRecording();
  await createUpload(info);
  const spool = createSpool(info, createMemoryDevice());
  await spool.append(new Blob([Uint8Array.from(FILE)]));
  spool.finish();
  await send(spool).done;
  await expectComplete(info);
});

test('a conflict is tried again and again, more and more seldom, and leaves the recording on the device', async () => {
  const info = await startRecording();
  const whole = createSpool(info, createMemoryDevice());
  await whole.append(new Blob([Uint8Array.from(FILE)]));
  whole.finish();
  await send(whole).done;
  // Its file is there already, so another one is a conflict.
  const device = createMemoryDevice();
  const spool = createSpool(info, device);
  await spool.append(new Blob(['abc']));
  const waits: number[] = [];
  const troubles: unknown[] = [];
  const options = {
    ...{ spool, origin: app.url, fetch, onProgress: () => {} },
    onTrouble: (error: Error | null) => troubles.push(error),
    async sleep(ms: number) {
      waits.push(ms);
      if (waits.length === 12) throw new Error('The page was closed');
    },
  };
  await expect(sendSpool(options)).rejects.toThrow('The page was closed');
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, ...Array(5).fill(60_000)]);
  expect([troubles.length, device.parts.size, device.isCleared]).toEqual([11, 1, false]);
  await expect(sendSpool({ ...options, maxConflicts: 3, sleep: async () => {} })).rejects.toMatchObject({
    status: 409,
  });
  expect([device.parts.size, device.isCleared]).toEqual([1, false]);
});

/** Creates an upload that gets no bytes, as if the response were lost. */
async function createUpload({ recordingId, uploadToken }: SpoolInfo): Promise<void> {
  const response = await fetch(`${app.url}/api/recordings/${recordingId}/uploads`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${uploadToken}`,
      'tus-resumable': '1.0.0',
      'upload-defer-length': '1',
      'upload-metadata': `filename ${btoa('a.mp4')}`,
    },
  });
  expect(response.status).toBe(201);
}

test('a recording that was deleted is refused, and one without bytes needs no upload', async () => {
  const info = await startRecording();
  await team.owner.client.recordings.delete.mutate({ recordingId: info.recordingId });
  const spool = createSpool(info, null);
  await spool.append(new Blob(['abc']));
  await expect(send(spool).done).rejects.toThrow(Refused);

  const empty = createSpool(info, null);
  empty.finish();
  const { sent, done } = send(empty);
  await done;
  expect(sent.methods).toEqual([]);
});
