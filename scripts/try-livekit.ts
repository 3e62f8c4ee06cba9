/**
 * `npm run try:livekit -- wss://host <api key> <api secret>`: walks through what the service does with a LiveKit server
 * that people join with two browsers, and prints what to report. Ends with 1 if a step fails.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createEncryptionKey, createSealer } from '../src/core/sealing.ts';
import { MINUTE_MS, SECOND_MS } from '../src/core/time.ts';
import { createAddressGuard, resolveHostFor } from '../src/egress/address-guard.ts';
import { toMediaOrigin } from '../src/features/livekit/connection.ts';
import { toSocketUrl } from '../src/features/livekit/server-url.ts';
import { createLivekitToken } from '../src/features/livekit/token.ts';
import {
  type CalledServer,
  createLivekitCaller,
} from '../src/features/meeting-providers/livekit-calls/livekit-caller.ts';
import {
  createRoomService,
  type ListedParticipant,
} from '../src/features/meeting-providers/livekit-calls/room-service.ts';

const USAGE = 'Usage: npm run try:livekit -- <url> <api key> <api secret>';
/** What needs the page of the service, and eyes. */
const BY_HAND = `
Then try the page of a room, with the server as a connection of a workspace (docs/provider-livekit.md):
  1. Open the room in two browsers, and join. Do both see and hear each other, and a shared screen?
  2. Write in the chat, and ask all to mute. Does the other microphone show that it is off?
  3. Record for a minute, and stop. Does the recording have both pictures and both voices?
  4. Restart the LiveKit server. Do both come back within half a minute?
  5. Remove one. Are they gone within two seconds?`;
const JOIN_MS = 5 * MINUTE_MS;
const LEAVE_MS = 10 * SECOND_MS;
const POLL_MS = SECOND_MS;

const addressGuard = createAddressGuard({ policy: 'any', resolveHost: resolveHostFor('any') });
const caller = createLivekitCaller(addressGuard);
const rooms = createRoomService(caller);
const { signal } = new AbortController();

async function readServer(): Promise<CalledServer> {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [url, api_key, api_secret] = positionals;
  if (url === undefined || api_key === undefined || api_secret === undefined) throw new Error(USAGE);
  return { origin: await toMediaOrigin({ addressGuard }, url), api_key, api_secret, isTrusted: true };
}

/** The steps, in order. Each resolves with what is to be reported. */
async function walk(server: CalledServer): Promise<void> {
  const room = `lynxroom-try-${Date.now()}`;
  const step = async (name: string, work: () => Promise<string>): Promise<void> => {
    console.log(`ok    ${name}: ${await work()}`);
  };
  const list = () => rooms.listParticipants(server, room, signal);
  const waitFor = async (what: string, ms: number, isDone: (listed: ListedParticipant[]) => boolean) => {
    for (const end = Date.now() + ms; Date.now() < end; await sleep(POLL_MS)) {
      const listed = await list();
      if (isDone(listed)) return listed;
    }
    throw new Error(`${what} within ${ms / SECOND_MS} seconds`);
  };

  await step('RoomService answers', async () => `${(await list()).length} participants in a room that does not exist`);
  console.log('\nOpen these links in two browsers, and allow the microphone. The pages are those of LiveKit.\n');
  for (const name of ['first', 'second']) console.log(`${await toLink(server, room, name)}\n`);
  await step('Two join with tokens of this service, and publish sound', async () => {
    const isJoined = (listed: ListedParticipant[]) =>
      listed.filter(({ microphones }) => microphones.length > 0).length === 2;
    const listed = await waitFor('Two participants with a microphone', JOIN_MS, isJoined);
    return listed.map(({ identity }) => identity).join(', ');
  });
  await step('Muting', async () => {
    for (const { identity, microphones } of await list())
      for (const track of microphones) await rooms.mute(server, room, identity, track, signal);
    await waitFor('Both muted', LEAVE_MS, (listed) => listed.every(({ microphones }) => microphones.length === 0));
    return 'both microphones are off';
  });
  await step('Removing', async () => {
    await rooms.removeParticipant(server, room, 'ref_first.try', signal);
    const listed = await waitFor('One participant left', LEAVE_MS, ({ length }) => length === 1);
    return `${listed[0]?.identity} is alone`;
  });
  await step('Closing', async () => {
    await rooms.deleteRoom(server, room, signal);
    await waitFor('An empty room', LEAVE_MS, ({ length }) => length === 0);
    return 'the room is gone';
  });
}

/** The token is for this room only, and works for ten minutes at most. */
async function toLink(server: CalledServer, roomName: string, name: string): Promise<string> {
  const sealer = createSealer(createEncryptionKey());
  const { token } = await createLivekitToken({ sealer }, new Date(), server, {
    reference: `ref_${name}`,
    connectionId: 'try',
    name,
    roomName,
    role: 'guest',
  });
  return `https://meet.livekit.io/custom?${new URLSearchParams({ liveKitUrl: toSocketUrl(server.origin), token })}`;
}

try {
  await walk(await readServer());
  console.log(BY_HAND);
  console.log(
    '\nReport: the answers and the lines above, the version of the LiveKit server, and whether it is LiveKit Cloud.',
  );
} catch (error) {
  console.error(`failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await caller.close();
}
