/** Sign-ins compete for a few hashes at a time: who is next, who is dropped, and what the answer to too many is. */
import { connect, type Socket } from 'node:net';
import { hash, verify } from '@node-rs/argon2';
import { afterEach, expect, test } from 'vitest';
import { createPasswords, type Passwords } from '../../src/auth/passwords.ts';
import { transports } from '../contract/transports.ts';
import type { Answer } from '../support/http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, PASSWORD } from '../support/world.ts';

const ABANDONED = 300;
const MAX_QUEUED = 100;

let app: TestApp;
afterEach(() => app.close());

/** One slot, which the first check of the password `gate` occupies until `open` is called. */
async function startWithGate() {
  const checked: string[] = [];
  const gate = Promise.withResolvers<void>();
  const passwords: Passwords = createPasswords(1, {
    hash,
    async verify(passwordHash, password) {
      checked.push(String(password));
      if (password === 'gate') await gate.promise;
      return verify(passwordHash, password);
    },
  });
  app = await startTestApp({ passwords });
  const person = await addPerson(app);
  const first = app.http.post('/api/auth/login', undefined, { email: person.email, password: 'gate' });
  await expect.poll(() => checked).toEqual(['gate']);
  const open = (): Promise<Answer> => {
    gate.resolve();
    return first;
  };
  return { person, checked, passwords, open };
}

/** Sends a sign-in from this address of the loopback network, and waits for no answer. */
function sendLogin(localAddress: string, password: string): Promise<Socket> {
  const { hostname, port } = new URL(app.url);
  const body = JSON.stringify({ email: 'nobody@example.com', password });
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), localAddress }, () => {
      const head = ['POST /api/auth/login HTTP/1.1', `host: ${hostname}:${port}`, 'content-type: application/json'];
      socket.write(`${[...head, `content-length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`, () => resolve(socket));
    });
    socket.on('error', reject);
  });
}

test('sign-ins that were abandoned are not hashed: a real one is next', async () => {
  const { person, checked, passwords, open } = await startWithGate();
  for (let sent = 0; sent < ABANDONED; sent += 50) {
    const sockets = await Promise.all(
      Array.from({ length: 50 }, (_, index) => sendLogin(`127.0.0.${index + 2}`, `abandoned ${sent + index}`)),
    );
    await expect.poll(passwords.waiting).toBe(50);
    for (const socket of sockets) socket.destroy();
    await expect.poll(passwords.waiting).toBe(0);
  }
  const login = app.http.post('/api/auth/login', undefined, { email: person.email, password: PASSWORD });
  await expect.poll(passwords.waiting).toBe(1);
  expect((await open()).status).toBe(401);
  expect((await login).status).toBe(200);
  expect(checked).toEqual(['gate', PASSWORD]);
  // Hanging up is no fault of the service.
  expect(app.logLines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});

test('networks take turns: one that sent many sign-ins delays another by one', async () => {
  const { person, checked, passwords, open } = await startWithGate();
  const sockets: Socket[] = [];
  for (let sent = 0; sent < 20; sent += 1) {
    sockets.push(await sendLogin('127.0.0.2', `flood ${sent}`));
    await expect.poll(passwords.waiting).toBe(sent + 1);
  }
  const login = app.http.post('/api/auth/login', undefined, { email: person.email, password: PASSWORD });
  await expect.poll(passwords.waiting).toBe(21);
  await open();
  expect((await login).status).toBe(200);
  expect(checked.indexOf(PASSWORD)).toBe(2);
  for (const socket of sockets) socket.destroy();
});

test.each(transports)(
  'over %s a full queue is 503 with Retry-After, and another network still gets in',
  async (_, transport) => {
    const { person, passwords, open } = await startWithGate();
    const input = { email: 'nobody@example.com', password: 'wrong password' };
    const waiting = Array.from({ length: MAX_QUEUED }, () => transport(app, { name: 'auth.login', input }));
    await expect.poll(passwords.waiting).toBe(MAX_QUEUED);
    const message = 'Too many concurrent sign-ins: try again in a moment';
    expect(await transport(app, { name: 'auth.login', input })).toMatchObject({ status: 503, body: { message } });
    const { headers } = await app.http.post('/api/auth/login', undefined, input);
    expect(headers.get('retry-after')).toBe('2');
    const other = await sendLogin('127.0.0.2', 'from another network');
    expect(await Promise.race(waiting)).toMatchObject({ status: 503 });
    other.destroy();
    await open();
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 503)).toHaveLength(1);
    expect(
      (await app.http.post('/api/auth/login', undefined, { email: person.email, password: PASSWORD })).status,
    ).toBe(200);
  },
);
