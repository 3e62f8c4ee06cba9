/**
 * What an attacker does. Each attack runs in a thread of its own, so that it does not slow down the people whose
 * requests are measured.
 */
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

export type Attack = {
  name: string;
  /** Attacks until the time is over, and may return what was wrong. `from` is the address of its requests. */
  run(target: Target): Promise<unknown>;
  /** What is wrong afterwards, besides what is measured after every attack. */
  findProblems?(target: Target): Promise<string[]>;
  /** Guests may get no stream during the attack, and ask for their presence instead. */
  takesGuestStreams?: true;
};

export type Target = {
  url: string;
  from: string;
  seconds: number;
  token: string;
  workspaceId: number;
  /** Rooms that anyone may join as a guest. */
  roomNames: readonly string[];
  /** A booking page of somebody else, which is open all the time. */
  slug: string;
};

type Sent = { path: string; body: Buffer; token?: string; isChunked?: boolean };

const MIB = 1024 * 1024;
const HOSTILE = objects(MIB);
const PUBLIC_LIMIT = 8 * 1024;
const LIMIT = 64 * 1024;
const OPEN_BODIES = 800;
const NETWORKS = 120;
/** The limits of the two kinds of mail that the attack causes. */
const MAX_MAIL = { 'verify-email': 5, 'reset-password': 5 };
/** More than the streams of a process, though no participant has more than it may have. */
const GUESTS = 250;
const STREAMS_PER_GUEST = 20;
/** A network may have 1,000 connections. */
const GUESTS_PER_NETWORK = 25;
/** A few at a time, because all networks join the same room. */
const GUESTS_AT_ONCE = 10;

/** Guests may have half of the 5,000 streams. */
const MIN_STREAMS = 2_000;
const BOOKINGS = 120;
const BOOKING_NETWORKS = 6;
const DAY_MS = 86_400_000;
const OTHERS = '127.0.0.3';

export const attacks: readonly Attack[] = [
  ...['/api/auth/login', '/api/auth/forgot-password', '/api/rooms/nowhere/join', '/trpc/auth.login'].map((path) => ({
    name: `60 bodies of 1 MiB at once to ${path}`,
    run: (target: Target) => flood(target, 60, () => ({ path, body: HOSTILE })),
  })),
  {
    name: '60 bodies of 1 MiB in chunks at once to /api/auth/login',
    run: (target) => flood(target, 60, () => ({ path: '/api/auth/login', body: HOSTILE, isChunked: true })),
  },
  {
    name: '60 bodies at once that exhaust the limits of a public operation',
    run: (target) => flood(target, 60, () => ({ path: '/trpc/auth.login', body: values(PUBLIC_LIMIT) })),
  },
  {
    name: 'one account: 40 bodies of 1 MiB at once that create a label',
    run: (target) => flood(target, 40, () => ({ ...createLabel(target), body: HOSTILE })),
  },
  {
    name: 'one account: 40 bodies at once that exhaust the limits of an operation',
    run: (target) => flood(target, 40, () => ({ ...createLabel(target), body: values(LIMIT) })),
  },
  ...[3, 16].map((count) => ({
    name: `${count} connections whose requests are rejected`,
    run: (target: Target) => flood(target, count, () => ({ path: '/api/auth/login', body: HOSTILE })),
  })),
  { name: '800 bodies that never end', run: sendEndlessBodies },
  { name: '120 networks that fill one mailbox', run: fillMailbox, findProblems: findMailToVictim },
  { name: '250 guests of ten networks with 20 streams each', run: openStreams, takesGuestStreams: true },
  { name: '120 bookings of a host from six networks', run: bookEverything, findProblems: findClosedPage },
];

function createLabel({ token, workspaceId }: Target): Omit<Sent, 'body'> {
  return { path: `/api/workspaces/${workspaceId}/labels`, token };
}

/** Keeps `count` requests in flight. */
async function flood({ url, from, seconds }: Target, count: number, next: () => Sent): Promise<void> {
  const agent = new Agent({ keepAlive: true, localAddress: from, maxSockets: count });
  const endsAt = performance.now() + seconds * 1_000;
  const attackers = Array.from({ length: count }, async () => {
    while (performance.now() < endsAt) await send(url, agent, next());
  });
  await Promise.all(attackers);
  agent.destroy();
}

/** Resolves when the response has arrived, or the server has closed the connection. */
function send(url: string, agent: Agent, { path, body, token, isChunked }: Sent): Promise<void> {
  return new Promise((resolve) => {
    const sent = request(url + path, {
      method: 'POST',
      agent,
      headers: {
        'content-type': 'application/json',
        ...(isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': body.length }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    });
    sent.on('response', (response) => response.resume().on('close', resolve));
    sent.on('error', () => setTimeout(resolve, 5));
    sent.end(body);
  });
}

/** Opens connections with bodies of which the last byte is missing, and opens another one for each that is closed. */
async function sendEndlessBodies({ url, from, seconds }: Target): Promise<void> {
  const { hostname, port } = new URL(url);
  const head = `POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
  let isOver = false;
  const open = (size: number): void => {
    if (isOver) return;
    const socket = connect({ host: hostname, port: Number(port), localAddress: from });
    sockets.add(socket);
    socket.on('error', () => {});
    socket.resume().on('close', () => {
      sockets.delete(socket);
      setTimeout(open, 100, size);
    });
    socket.write(`${head}content-length: ${size}\r\n\r\n${'x'.repeat(size - 1)}`);
  };
  const sockets = new Set<ReturnType<typeof connect>>();
  // Half of them are as large as they may be, so that their size is no reason to reject them.
  for (let index = 0; index < OPEN_BODIES; index += 1) open(index % 2 === 0 ? MIB : PUBLIC_LIMIT);
  await sleep(seconds * 1_000);
  isOver = true;
  for (const socket of sockets) socket.destroy();
}

/**
 * Registers accounts and forgets their passwords. Each network uses another address of the same mailbox. They begin one
 * after another, because the attack is on the mailbox and not on the processors, which hash the passwords.
 */
async function fillMailbox({ url, seconds }: Target): Promise<void> {
  const attackers = Array.from({ length: NETWORKS }, async (_, index) => {
    await sleep((index * seconds * 1_000) / NETWORKS);
    const agent = new Agent({ keepAlive: true, localAddress: `127.0.1.${index + 1}` });
    const email = `${index % 2 === 0 ? 'vic.tim' : 'victim'}+${index}@${index % 3 === 0 ? 'gmail' : 'googlemail'}.com`;
    const account = { name: 'Victim', email, password: 'correct horse battery staple' };
    await send(url, agent, { path: '/api/auth/register', body: Buffer.from(JSON.stringify(account)) });
    await send(url, agent, { path: '/api/auth/forgot-password', body: Buffer.from(JSON.stringify({ email })) });
    agent.destroy();
  });
  await Promise.all(attackers);
}

/** Reads the newest messages, of which the page shows more than the limits allow. */
async function findMailToVictim({ url }: Target): Promise<string[]> {
  const page = await (await fetch(`${url}/dev/mail`)).text();
  return Object.entries(MAX_MAIL).flatMap(([kind, max]) => {
    const count = [...page.matchAll(new RegExp(`>${kind}</a> to vic\\.?tim`, 'g'))].length;
    return count === max ? [] : [`${count} messages ${kind} instead of ${max}`];
  });
}

/** Joins rooms as many guests, and opens as many streams as the service allows. */
async function openStreams({ url, roomNames, seconds }: Target): Promise<string[]> {
  const endsAt = performance.now() + seconds * 1_000;
  const streams: IncomingMessage[] = [];
  const openAsGuest = async (index: number): Promise<void> => {
    const localAddress = `127.0.4.${1 + Math.floor(index / GUESTS_PER_NETWORK)}`;
    const roomName = roomNames[index % roomNames.length];
    const joined = await read(url, `/api/rooms/${roomName}/join`, localAddress, JSON.stringify({ name: 'Gus' }));
    const token = JSON.parse(joined).participant?.token;
    const opened = Array.from({ length: STREAMS_PER_GUEST }, () =>
      openStream(`${url}/api/rooms/${roomName}/presence/stream?token=${token}`, localAddress),
    );
    for (const stream of await Promise.all(opened)) if (stream !== null) streams.push(stream);
  };
  const guests = Array.from({ length: GUESTS }, (_, index) => index);
  const workers = Array.from({ length: GUESTS_AT_ONCE }, async () => {
    for (let index = guests.shift(); index !== undefined; index = guests.shift()) await openAsGuest(index);
  });
  await Promise.all(workers);
  await sleep(Math.max(0, endsAt - performance.now()));
  for (const stream of streams) stream.destroy();
  return streams.length >= MIN_STREAMS ? [] : [`only ${streams.length} streams were opened`];
}

/** Books as many meetings as six networks may. */
async function bookEverything({ url, slug }: Target): Promise<string[]> {
  const first = Math.ceil(Date.now() / DAY_MS + 1) * (DAY_MS / 1_000);
  const statuses: string[] = [];
  for (let index = 0; index < BOOKINGS; index += 1) {
    const booking = { name: 'Spam', email: `spam${index}@example.com`, starts_at: first + index * 300 };
    const localAddress = `127.0.5.${1 + (index % BOOKING_NETWORKS)}`;
    statuses.push(
      JSON.parse(await read(url, `/api/book/${slug}`, localAddress, JSON.stringify(booking))).booking?.status,
    );
  }
  const confirmed = statuses.filter((status) => status === 'confirmed').length;
  const waiting = statuses.filter((status) => status === 'unconfirmed').length;
  return confirmed === 100 && waiting === 20 ? [] : [`${confirmed} were confirmed, and ${waiting} wait`];
}

/** A guest must still be able to book. */
async function findClosedPage({ url, slug }: Target): Promise<string[]> {
  const from = Math.floor(Date.now() / 1_000) + 3_600;
  const { times = [] } = JSON.parse(
    await read(url, `/api/book/${slug}?from=${from}&to=${from + 86_400}`, OTHERS, null),
  );
  const guest = { name: 'Vera', email: 'vera@example.com', starts_at: times[0] };
  const { booking } = JSON.parse(await read(url, `/api/book/${slug}`, OTHERS, JSON.stringify(guest)));
  return booking === undefined ? ['the page is closed'] : [];
}

/** Sends a body, or GET without one. Returns the body of the response; `{}` if the connection broke. */
function read(url: string, path: string, localAddress: string, body: string | null): Promise<string> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json' };
    const sent = request(url + path, { method: body === null ? 'GET' : 'POST', localAddress, headers });
    sent.on('response', (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk.toString();
      });
      response.on('close', () => resolve(text));
    });
    sent.on('error', () => resolve('{}'));
    sent.end(body ?? undefined);
  });
}

/** Returns an open stream, or null if the service refuses it. */
export function openStream(url: string, localAddress: string, token?: string): Promise<IncomingMessage | null> {
  return new Promise((resolve) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const sent = request(url, { agent: false, localAddress, headers });
    sent.on('response', (response) => {
      response.on('error', () => {}).resume();
      resolve(response.statusCode === 200 ? response : null);
    });
    sent.on('error', () => resolve(null));
    sent.end();
  });
}

/** JSON that takes up far more memory than its text. */
function objects(bytes: number): Buffer {
  return Buffer.from(`[${'{},'.repeat(bytes / 3 - 1)}{}]`);
}

/** A body of at most `bytes` with as many different values as the service allows. */
function values(bytes: number): Buffer {
  const count = bytes / 32 - 4;
  const fields = Array.from({ length: count }, (_, index) => `"${index.toString(36)}":0`).join(',');
  return Buffer.from(`{"email":"${'x'.repeat(bytes - fields.length - 40)}",${fields}}`);
}

if (parentPort !== null) {
  const { name, target } = workerData as { name: string; target: Target };
  const found = await attacks.find((attack) => attack.name === name)?.run(target);
  parentPort.postMessage(Array.isArray(found) ? found : []);
}
