/** The walk against a LiveKit server, here against the server of the tests, which two "browsers" join. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { TokenVerifier } from 'livekit-server-sdk';
import { expect, test } from 'vitest';
import { type LivekitServer, startLivekitServer } from './livekit-server.ts';

const key = { api_key: 'APIaVrrHMBeyNGD', api_secret: 'the API secret of LiveKit' };
const script = fileURLToPath(new URL('../../scripts/try-livekit.ts', import.meta.url));

/** Runs the script. Joins the room with each link that it prints. */
async function run(server: LivekitServer, secret = key.api_secret): Promise<{ code: number | null; output: string }> {
  const child = execFile(process.execPath, [script, server.url, key.api_key, secret]);
  let output = '';
  const joined = new Set<string>();
  const read = (chunk: string): void => {
    output += chunk;
    for (const [link] of output.matchAll(/^https:\/\/meet\.livekit\.io\S+\n/gm)) {
      if (joined.has(link)) continue;
      joined.add(link);
      void join(server, new URL(link.trim()).searchParams.get('token') ?? '');
    }
  };
  child.stdout?.on('data', read);
  child.stderr?.on('data', read);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

async function join({ rooms }: LivekitServer, token: string): Promise<void> {
  const { sub = '', video } = await new TokenVerifier(key.api_key, key.api_secret).verify(token);
  const people = rooms.get(video?.room ?? '') ?? new Map<string, boolean>();
  rooms.set(video?.room ?? '', people.set(sub, true));
}

test('it joins, mutes, removes and closes, and says what to report', async () => {
  await using server = await startLivekitServer(key);
  const { code, output } = await run(server);
  expect(output).toContain('ok    Closing: the room is gone');
  expect(output.match(/^ok {4}/gm)).toHaveLength(5);
  expect(output).toContain('Record for a minute, and stop.');
  expect(output).toContain('Report: the answers and the lines above');
  expect(code).toBe(0);
  expect(output).not.toContain(key.api_secret);
}, 60_000);

test('a wrong secret ends it with an error', async () => {
  await using server = await startLivekitServer(key);
  const { code, output } = await run(server, 'another secret');
  expect(output).toBe('failed: ListParticipants was answered with the status 401\n');
  expect(code).toBe(1);
}, 60_000);
