/**
 * Measures the cost of downloads whose clients read nothing: the memory and descriptors of the server, and how long it
 * keeps them. The readers come from several networks, as X-Forwarded-For says, because a network may open only 200
 * downloads.
 *   node bench/stalled-readers.ts [readers=1700] [seconds=50]
 * Linux only.
 */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOptions } from './options.ts';
import { openWorld, residentMib, sendUpload } from './upload-servers.ts';

/** More than the kernel buffers for one connection. */
const FILE_BYTES = 20_000_000;
const FILES = 20;
const READERS_PER_URL = 20;
const READERS_PER_NETWORK = 200;

const options = readOptions();
const readers = Number(options.readers ?? 1_700);
const seconds = Number(options.seconds ?? 50);

const world = await openWorld();
try {
  const server = await world.startLynxroom('disk', { TRUST_PROXY: '127.0.0.1' });
  for (let count = 0; count < FILES; count += 1) await sendUpload(server, FILE_BYTES);
  const port = Number(new URL(server.uploadUrl).port);
  const print = (when: string): void => {
    const descriptors = readdirSync(`/proc/${server.pid}/fd`).length;
    console.log(`${when} | ${residentMib(server.pid).toFixed(0)} | ${descriptors}`);
  };
  console.log('when | server MiB | descriptors');
  print('before');

  const statuses = new Map<string, number>();
  let urls: string[] = [];
  let path = '';
  for (let count = 0; count < readers; count += 1) {
    if (count % READERS_PER_URL === 0) {
      if (urls.length === 0) urls = await createUrls(server.uploadUrl, server.headers);
      path = urls.pop() ?? '';
    }
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    const forwarded = `10.0.${Math.floor(count / READERS_PER_NETWORK)}.1`;
    socket.write(`GET ${path} HTTP/1.1\r\nhost: bench\r\nx-forwarded-for: ${forwarded}\r\n\r\n`);
    const [head] = await once(socket, 'data');
    socket.pause();
    const status = String(head).slice(9, 12);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  console.log('statuses:', Object.fromEntries(statuses));
  print('all began');
  const startedAt = performance.now();
  while (performance.now() - startedAt < seconds * 1_000) {
    await sleep(5_000);
    print(`after ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  }
} finally {
  await world.close();
}
process.exit();

/** Returns a URL of each file. */
async function createUrls(uploadUrl: string, headers: Record<string, string>): Promise<string[]> {
  // The expiry is a part of a URL, in seconds, so URLs of one file and second are equal.
  await sleep(1_000);
  const ask = async (url: string) => (await fetch(url, { headers })).json() as Promise<Record<string, unknown>>;
  const { items } = (await ask(uploadUrl)) as { items: { id: number }[] };
  return Promise.all(
    items.map(async ({ id }) => {
      const { url } = (await ask(`${uploadUrl}/${id}/download`)) as { url: string };
      return url.slice(new URL(url).origin.length);
    }),
  );
}
