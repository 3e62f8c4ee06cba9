/**
 * Counts what a request sends to PostgreSQL, by a proxy between the two. A round trip is what the server sends before
 * it waits for an answer; it may have several statements.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openConnection } from '../load.ts';
import { median, startScript } from '../upload-servers.ts';
import { workspaces } from '../world.ts';
import { nextNumber } from './measure.ts';
import { operations, type Tokens } from './operations.ts';
import { type Databases, startOurs } from './targets.ts';

export type Trips = { trips: number; statements: number };

const CALLS = 15;
/** After these calls, every connection has prepared its statements. */
const WARM_UP_CALLS = 15;
const SETTLE_MS = 15;
const SIMPLE_QUERY = 'Q'.charCodeAt(0);
const EXECUTE = 'E'.charCodeAt(0);
const RELAY_SIGNAL = 'select pg_notify(';

/** Returns the median of each operation, called alone. */
export async function countRoundTrips(
  name: 'ours-rest' | 'duties',
  databases: Databases,
  tokens: Tokens,
  operationNames: readonly string[],
): Promise<Map<string, Trips>> {
  await using cleanup = new AsyncDisposableStack();
  const proxy = await startCountingProxy(databases.ours);
  cleanup.defer(proxy.close);
  const duties = fileURLToPath(new URL('../duties/main.ts', import.meta.url));
  const server =
    name === 'duties'
      ? await startScript(duties, { DATABASE_URL: proxy.url })
      : await startOurs(proxy.url, databases.folder, { RUN_WORKER: '0', DATABASE_POOL_SIZE: '1' });
  cleanup.defer(server.stop);
  const connection = await openConnection(server.url);
  const counts = new Map<string, Trips>();
  for (const operationName of operationNames) {
    const operation = operations[operationName];
    const makeCall = operation?.calls.rest;
    if (operation === undefined || makeCall === undefined) continue;
    await operation.prepare?.(databases.ours, CALLS + WARM_UP_CALLS);
    const counted: Trips[] = [];
    for (let index = 0; index < CALLS + WARM_UP_CALLS; index += 1) {
      const call = makeCall(nextNumber(operation), tokens, workspaces.write);
      if (call === null) break;
      const before = proxy.counts();
      await connection.send(call);
      // What the server does after its response, such as COMMIT of a read, belongs to the call too.
      await sleep(SETTLE_MS);
      const after = proxy.counts();
      if (index >= WARM_UP_CALLS)
        counted.push({ trips: after.trips - before.trips, statements: after.statements - before.statements });
    }
    counts.set(operationName, {
      trips: median(counted.map(({ trips }) => trips)),
      statements: median(counted.map(({ statements }) => statements)),
    });
  }
  connection.close();
  return counts;
}

async function startCountingProxy(targetUrl: string) {
  const target = new URL(targetUrl);
  const counts: Trips = { trips: 0, statements: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket.setNoDelay(true));
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    const countStatements = createStatementCounter(counts);
    let isSending = false;
    client.on('data', (chunk: Buffer) => {
      // No request waits for the signal to the relays of other processes, which is sent at most every 50 ms.
      if (!chunk.includes(RELAY_SIGNAL)) {
        if (!isSending) counts.trips += 1;
        countStatements(chunk);
      }
      isSending = true;
      upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => {
      isSending = false;
      client.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return {
    url: Object.assign(new URL(targetUrl), { host: `127.0.0.1:${port}` }).href,
    counts: (): Trips => ({ ...counts }),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Reads the messages of a client: a type and a length. Only the first message, the startup, has no type. */
function createStatementCounter(counts: Trips): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let typeBytes = 0;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= typeBytes + 4) {
      const size = typeBytes + rest.readInt32BE(typeBytes);
      if (rest.length < size) return;
      const isStatement = typeBytes === 1 && (rest[0] === SIMPLE_QUERY || rest[0] === EXECUTE);
      if (isStatement) counts.statements += 1;
      rest = rest.subarray(size);
      typeBytes = 1;
    }
  };
}
