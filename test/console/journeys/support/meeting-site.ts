/**
 * A site of its own with the example of meetings and the packed client, on another origin than the service. Its page
 * `/blank.html` shows nothing: a test starts meetings in it by `startMeeting`.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { installClient, packClient, root } from '../../../client/packed-client.ts';
import { makeTempDir } from '../../../support/temp-dir.ts';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
};

export type MeetingSite = { url: string; close(): Promise<void> };

let packed: Promise<string> | undefined;

/** Starts the site. The client is packed once for all sites of a process. */
export async function startMeetingSite(): Promise<MeetingSite> {
  packed ??= install();
  const installed = await packed;
  const blank = await createBlankPage();
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? '/', 'http://site').pathname);
    const file = path.startsWith('/node_modules/')
      ? join(installed, path)
      : join(root, 'examples/meeting', path === '/' ? 'index.html' : path);
    const content = path === '/blank.html' ? Promise.resolve(blank) : readFile(file);
    content.then(
      (body) => response.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream').end(body),
      () => response.writeHead(404).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // `as`: it listens on TCP.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Packs and installs the client in a directory that lasts as long as the process. */
async function install(): Promise<string> {
  const dir = await makeTempDir();
  await installClient(await packClient(dir), dir);
  return dir;
}

async function createBlankPage(): Promise<string> {
  const example = await readFile(join(root, 'examples/meeting/index.html'), 'utf8');
  const [importMap = ''] = /<script type="importmap">.*?<\/script>/s.exec(example) ?? [];
  return `<!doctype html><title>Blank</title>${importMap}<script type="module">${HARNESS}</script>`;
}

/** What a test calls in the page. */
const HARNESS = `
  import { createClient } from '@lynxroom/client';
  import { createMeeting } from '@lynxroom/client/meeting';

  /** All connections of the page, so that a test can look at what the module does not show. */
  globalThis.connections = [];
  globalThis.openConnections = () => connections.filter(({ signalingState }) => signalingState !== 'closed');
  /** How many offers the page has made. */
  globalThis.offers = 0;
  globalThis.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(...input) {
      super(...input);
      connections.push(this);
      this.addEventListener('signalingstatechange', () => (offers += this.signalingState === 'have-local-offer'));
      // As a browser does when it is given other servers.
      if (globalThis.asksAtOnce) queueMicrotask(() => this.dispatchEvent(new Event('negotiationneeded')));
    }
  };

  /** Joins with the fake camera and microphone. Resolves once the service has answered. */
  globalThis.startMeeting = async ({ url, width = 160, height = 90, frameRate = 5, joins = true, ...options }) => {
    const meeting = createMeeting(createClient({ url }), { url, ...options });
    globalThis.meeting = meeting;
    globalThis.chats = [];
    globalThis.states = [];
    meeting.on('chat', (message) => chats.push(message));
    meeting.on('change', ({ state, peers }) => {
      if (states.at(-1) !== state) states.push(state);
      play(peers.flatMap(({ microphone }) => microphone ?? []));
    });
    await giveTracks({ width, height, frameRate });
    if (!joins) return null;
    await meeting.join();
    return { id: meeting.participant.id, token: meeting.token };
  };

  /** Browsers decode only sound that is played. */
  const players = new Map();
  function play(tracks) {
    for (const [track, audio] of players) {
      if (tracks.includes(track)) continue;
      audio.srcObject = null;
      players.delete(track);
    }
    for (const track of tracks) {
      if (players.has(track)) continue;
      const audio = Object.assign(new Audio(), { srcObject: new MediaStream([track]), autoplay: true });
      players.set(track, audio);
    }
  }

  globalThis.giveTracks = async (video) => {
    const media = await navigator.mediaDevices.getUserMedia({ audio: true, video });
    await meeting.setTrack('microphone', media.getAudioTracks()[0]);
    await meeting.setTrack('camera', media.getVideoTracks()[0]);
  };

  /** What has been received of each peer, by name. */
  globalThis.readReceived = async () => {
    const stats = await meeting.getStats();
    return Object.fromEntries(meeting.peers.map(({ id, name, state, camera, microphone }) => {
      const { framesDecoded = 0, audioEnergy = 0, candidatePair = null } = stats.get(id) ?? {};
      return [name, { state, framesDecoded, audioEnergy, candidatePair, hasTracks: !!camera && !!microphone }];
    }));
  };

  /** The width of the pictures of a track that arrive. */
  globalThis.readDecodedWidth = async ({ id }) => {
    const reports = await Promise.all(openConnections().map((connection) => connection.getStats()));
    const stats = reports.flatMap((report) => [...report.values()]);
    return stats.find(({ trackIdentifier, framesDecoded }) => trackIdentifier === id && framesDecoded > 0)?.frameWidth;
  };

  globalThis.describeConnections = async () =>
    JSON.stringify({
      received: await readReceived(),
      connections: await Promise.all(openConnections().map(async (connection) => [
        connection.signalingState, connection.iceConnectionState, connection.connectionState,
        ...[...(await connection.getStats()).values()]
          .filter(({ type }) => type.endsWith('bound-rtp'))
          .map(({ type, kind, packetsReceived, packetsSent }) => [type, kind, packetsReceived ?? packetsSent]),
      ])),
    });

  /** Resolves with how many milliseconds passed until pictures and sound arrive from so many peers. */
  globalThis.receiveFrom = async (count, pollMs = 50) => {
    const start = performance.now();
    const before = await readReceived();
    while (true) {
      const arriving = Object.entries(await readReceived()).filter(
        ([name, { state, framesDecoded, audioEnergy, hasTracks }]) =>
          state === 'connected' && hasTracks && framesDecoded !== (before[name]?.framesDecoded ?? 0) &&
          framesDecoded > 0 && audioEnergy > 0 && audioEnergy !== before[name]?.audioEnergy,
      );
      if (arriving.length >= count && meeting.peers.length === count) return performance.now() - start;
      if (performance.now() - start > 100_000) throw new Error('Nothing arrives: ' + (await describeConnections()));
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  };
  /** Resolves with how many milliseconds passed until the condition is true. */
  globalThis.waitFor = async (isTrue) => {
    const start = performance.now();
    while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20));
    return performance.now() - start;
  };
  globalThis.isReady = true;
`;
