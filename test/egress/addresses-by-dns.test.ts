import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { createDnsResolver } from '../../src/egress/resolve-host.ts';

const A = 1;
const AAAA = 28;

type Records = { [A]?: string[]; [AAAA]?: string[] };

const servers: Socket[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

function addressBytes(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  return Buffer.from(address.replaceAll(':', ''), 'hex');
}

/**
 * A DNS message (RFC 1035, section 4.1) that responds to the one question of `query`. Without addresses the name does
 * not exist.
 */
function respond(query: Buffer, type: number, addresses: readonly string[] | undefined): Buffer {
  const question = query.subarray(12, query.indexOf(0, 12) + 5);
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(addresses ? 0x8180 : 0x8183, 2);
  header.writeUInt16BE(addresses?.length ?? 0, 6);
  header.fill(0, 8);
  const records = (addresses ?? []).map((address) => {
    const data = addressBytes(address);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([header, question, ...records]);
}

/** Starts a DNS server with these records, which does not respond to queries of the types in `silentFor`. */
async function startDns(records: Records, silentFor: readonly number[] = []) {
  const server = createSocket('udp4');
  servers.push(server);
  const queried: number[] = [];
  server.on('message', (query, from) => {
    const type = query.readUInt16BE(query.indexOf(0, 12) + 1);
    queried.push(type);
    if (silentFor.includes(type)) return;
    const addresses = type === A ? records[A] : records[AAAA];
    server.send(respond(query, type, addresses), from.port, from.address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  return { queried, server: `127.0.0.1:${server.address().port}` };
}

/** Longer than the timeout of the tests, which must not depend on how busy the machine is. */
const DEFAULT_TIMEOUT_MS = 3_000;

const IPV6 = '2606:4700:0000:0000:0000:0000:0000:1111';

test('finds the addresses of both families, IPv4 first', async () => {
  const { server } = await startDns({ [A]: ['1.1.1.1', '1.0.0.1'], [AAAA]: [IPV6] });
  expect(await createDnsResolver({ servers: [server] })('receiver.example')).toEqual([
    { address: '1.1.1.1', family: 4 },
    { address: '1.0.0.1', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ]);
});

test('finds a name that has IPv6 only', async () => {
  const { server } = await startDns({ [A]: [], [AAAA]: [IPV6] });
  const addresses = await createDnsResolver({ servers: [server] })('receiver.example');
  expect(addresses).toEqual([{ address: '2606:4700::1111', family: 6 }]);
});

test('finds nothing for a name that does not exist', async () => {
  const { server } = await startDns({});
  expect(await createDnsResolver({ servers: [server] })('receiver.example')).toEqual([]);
});

test('uses the addresses of one family if the server does not respond for the other in time', async () => {
  const { server } = await startDns({ [A]: ['1.1.1.1'] }, [AAAA]);
  const startedAt = performance.now();
  const addresses = await createDnsResolver({ servers: [server], timeoutMs: 1_000 })('receiver.example');
  expect(addresses).toEqual([{ address: '1.1.1.1', family: 4 }]);
  expect(performance.now() - startedAt).toBeLessThan(DEFAULT_TIMEOUT_MS);
});

test('returns no addresses if the server does not respond in time', async () => {
  const { server } = await startDns({}, [A, AAAA]);
  const startedAt = performance.now();
  expect(await createDnsResolver({ servers: [server], timeoutMs: 1_000 })('receiver.example')).toEqual([]);
  expect(performance.now() - startedAt).toBeLessThan(DEFAULT_TIMEOUT_MS);
});

test('shares one request among simultaneous lookups of a name, and asks again later', async () => {
  const { server, queried } = await startDns({ [A]: ['1.1.1.1'], [AAAA]: [] });
  const resolveHost = createDnsResolver({ servers: [server] });
  await Promise.all(Array.from({ length: 50 }, () => resolveHost('receiver.example')));
  expect(queried.toSorted()).toEqual([A, AAAA]);
  await resolveHost('receiver.example');
  expect(queried).toHaveLength(4);
});

test('does not ask the server for names of this machine', async () => {
  const { server, queried } = await startDns({ [A]: ['1.1.1.1'], [AAAA]: [] });
  const resolveHost = createDnsResolver({ servers: [server] });
  const loopback = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  expect(await resolveHost('localhost')).toEqual(loopback);
  expect(await resolveHost('app.localhost')).toEqual(loopback);
  expect(queried).toEqual([]);
});
