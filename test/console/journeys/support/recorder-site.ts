/**
 * A service with one more page, `/recorder.html`, which has the recorder of the console and the meetings of the client,
 * and shows nothing. It has the policy of the console. The network between the page and the service can be cut.
 */
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, request as requestHttp } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../../../client/packed-client.ts';
import { makeTempDir } from '../../../support/temp-dir.ts';

export type RecorderSite = {
  /** The origin of the page and of the service behind it. */
  url: string;
  /** Resets all connections, and refuses new ones until `repair`. */
  cut(): void;
  repair(): void;
  close(): Promise<void>;
};

const PAGE = '<!doctype html><title>Recorder</title><script type="module" src="/recorder-kit/entry.js"></script>';

/** What a test calls in the page. */
const ENTRY = `
  import { createClient } from '@lynxroom/client';
  import { createMeeting } from '@lynxroom/client/meeting';
  import { canRecord, createRecorder } from '${join(root, 'web/src/meeting/recorder/index.ts')}';

  /** Joins with the fake camera and microphone, and waits until so many others are connected. */
  globalThis.joinMeeting = async ({ roomName, name, others }) => {
    const client = createClient({ url: location.origin });
    const meeting = createMeeting(client, { roomName, name });
    const video = { width: 320, height: 180, frameRate: 10 };
    const media = await navigator.mediaDevices.getUserMedia({ audio: true, video });
    await meeting.setTrack('microphone', media.getAudioTracks()[0]);
    await meeting.setTrack('camera', media.getVideoTracks()[0]);
    await meeting.join();
    Object.assign(globalThis, { meeting, canRecord, recorder: createRecorder({ meeting, client, roomName }) });
    while (meeting.peers.filter(({ state }) => state === 'connected').length < others)
      await new Promise((resolve) => setTimeout(resolve, 50));
    return { id: meeting.participant.id, token: meeting.token };
  };
  /** The names of the directories in which the device keeps recordings. */
  globalThis.listSpools = async () => {
    const names = [];
    const home = await (await navigator.storage.getDirectory()).getDirectoryHandle('recordings', { create: true });
    for await (const spool of home.keys()) names.push(spool);
    return names;
  };
  globalThis.isReady = true;
`;

let kit: Promise<string> | undefined;

/** The page is built once for all sites of a process. */
export async function startRecorderSite(serviceUrl: string): Promise<RecorderSite> {
  kit ??= build();
  const directory = await kit;
  const { port } = new URL(serviceUrl);
  const policy = (await fetch(serviceUrl, { headers: { accept: 'text/html' } })).headers.get('content-security-policy');
  let isCut = false;
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? '/', 'http://site').pathname);
    if (path === '/recorder.html') {
      response.setHeader('content-security-policy', policy ?? "default-src 'none'");
      return response.setHeader('content-type', 'text/html').end(PAGE);
    }
    if (path.startsWith('/recorder-kit/')) {
      return readFile(join(directory, path.slice('/recorder-kit/'.length))).then(
        (body) => response.setHeader('content-type', 'text/javascript').end(body),
        () => response.writeHead(404).end(),
      );
    }
    const { method, url: requested, headers } = request;
    const upstream = requestHttp({ host: '127.0.0.1', port, method, path: requested, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    return request.pipe(upstream);
  });
  server.on('connection', (socket) => isCut && socket.resetAndDestroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // `as`: it listens on TCP.
  const address = server.address() as AddressInfo;
  return {
    url: `http://localhost:${address.port}`,
    cut() {
      isCut = true;
      server.closeAllConnections();
    },
    repair() {
      isCut = false;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Builds the page as the console is built. */
async function build(): Promise<string> {
  const dir = await makeTempDir();
  const entry = join(dir, 'entry.ts');
  const outDir = join(dir, 'kit');
  await mkdir(outDir);
  await writeFile(entry, ENTRY);
  // The types of the bundler are not installed for tests.
  const vite = await import(pathToFileURL(join(root, 'web/node_modules/vite/dist/node/index.js')).href);
  const settings = { command: 'build', mode: 'production' };
  const { config } = await vite.loadConfigFromFile(settings, join(root, 'web/vite.config.ts'));
  await vite.build({
    root: join(root, 'web'),
    configFile: false,
    publicDir: false,
    base: '/recorder-kit/',
    logLevel: 'error',
    resolve: config.resolve,
    build: { outDir, assetsInlineLimit: 0, rollupOptions: { input: entry, output: { entryFileNames: 'entry.js' } } },
  });
  return outDir;
}
