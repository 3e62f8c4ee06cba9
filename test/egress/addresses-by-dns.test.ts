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
 * A DNS message (RFC 1035, section 4.1) that answers the one question of `query`; no records: the name does not exist.
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

/** A DNS server that knows one set of records, and stays silent for the types in `silentFor`. */
async function startDns(records: Records, silentFor: readonly number[] = []) {
  const server = createSocket('udp4');
  servers.push(server);
  const asked: number[] = [];
  server.on('message', (query, from) => {
    const type = query.readUInt16BE(query.indexOf(0, 12) + 1);
    asked.push(type);
    if (silentFor.includes(type)) return;
    const addresses = type === A ? records[A] : records[AAAA];
    server.send(respond(query, type, addresses), from.port, from.address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  return { asked, server: `127.0.0.1:${server.address().port}` };
}

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
  const found = await createDnsResolver({ servers: [server] })('receiver.example');
  expect(found).toEqual([{ address: '2606:4700::1111', family: 6 }]);
});

test('finds nothing for a name that does not exist', async () => {
  const { server } = await startDns({});
  expect(await createDnsResolver({ servers: [server] })('receiver.example')).toEqual([]);
});

test('uses what came in time from a server that stays silent on one family', async () => {
  const { server } = await startDns({ [A]: ['1.1.1.1'] }, [AAAA]);
  const began = performance.now();
  const found = await createDnsResolver({ servers: [server], timeoutMs: 300 })('receiver.example');
  expect(found).toEqual([{ address: '1.1.1.1', family: 4 }]);
  expect(performance.now() - began).toBeLessThan(600);
});

test('gives up on a silent server in time', async () => {
  const { server } = await startDns({}, [A, AAAA]);
  const began = performance.now();
  expect(await createDnsResolver({ servers: [server], timeoutMs: 300 })('receiver.example')).toEqual([]);
  expect(performance.now() - began).toBeLessThan(600);
});

test('asks once for look-ups of one name at the same time, and again later', async () => {
  const { server, asked } = await startDns({ [A]: ['1.1.1.1'], [AAAA]: [] });
  const resolveHost = createDnsResolver({ servers: [server] });
  await Promise.all(Array.from({ length: 50 }, () => resolveHost('receiver.example')));
  expect(asked.toSorted()).toEqual([A, AAAA]);
  await resolveHost('receiver.example');
  expect(asked).toHaveLength(4);
});

test('asks no server for the names of this machine', async () => {
  const { server, asked } = await startDns({ [A]: ['1.1.1.1'], [AAAA]: [] });
  const resolveHost = createDnsResolver({ servers: [server] });
  const loopback = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  expect(await resolveHost('localhost')).toEqual(loopback);
  expect(await resolveHost('app.localhost')).toEqual(loopback);
  expect(asked).toEqual([]);
});
