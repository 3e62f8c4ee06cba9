/** Sending the outbox to real mail servers. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import { createWakeUps } from '../../src/jobs/wake-ups.ts';
import { allKinds, linkTo, type MailedBooking } from '../../src/mail/kinds.ts';
import { LEASE_MS, RETRY_DELAYS_MS, sendDueMail, startMailer } from '../../src/mail/mailer.ts';
import { leaseDueMail, recordAttempt } from '../../src/mail/outbox.ts';
import { type NewMail, queueMail } from '../../src/mail/queue-mail.ts';
import { createSmtpTransport, type MailTransport } from '../../src/mail/smtp.ts';
import {
  certificate,
  type MailServer,
  type MailServerOptions,
  refusal,
  startForgetfulServer,
  startMailServer,
} from '../support/mail-server.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson } from '../support/world.ts';

const from = { name: 'Lynxroom', address: 'noreply@lynxroom.example' };
const baseUrl = 'https://app.example.com';
const link = linkTo('/reset-password', 'lnm_secret');
const booking: MailedBooking = {
  uid: '3c5a1f5e-5a36-4d0e-9f6c-0d5e4c1b2a39',
  sequence: 0,
  changedAt: 0,
  title: 'Intro call',
  startsAt: 0,
  endsAt: 1_800,
  timeZone: 'UTC',
  host: { name: 'Ada', email: 'ada@example.com' },
  guest: { name: 'Vera', email: 'vera@example.com' },
  room: null,
};

let app: TestApp;
let cleanup: AsyncDisposableStack;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  cleanup = new AsyncDisposableStack();
  await app.services.db.mailMessage.deleteMany();
});
afterEach(() => cleanup.disposeAsync());

async function start(options?: MailServerOptions): Promise<MailServer> {
  const server = await startMailServer(options);
  cleanup.defer(server.close);
  return server;
}

function connect(smtpUrl: string, ca?: string): MailTransport {
  const transport = createSmtpTransport({ smtpUrl, from, ...(ca !== undefined && { ca }) });
  cleanup.defer(() => transport.close());
  return transport;
}

function queue(mail: Partial<NewMail> = {}): Promise<boolean> {
  // `as`: the parts that a test replaces belong together.
  const whole = { kind: 'reset-password', to: 'ada@example.com', data: { link }, ...mail } as NewMail;
  return queueMail(app.services, app.services.db.sql, whole);
}

function send(transport: MailTransport | null): Promise<number> {
  return sendDueMail({ services: app.services, transport, source: { baseUrl, address: from.address } });
}

function readRow() {
  return app.services.db.mailMessage.findFirstOrThrow();
}

function headerOf({ raw }: { raw: string }, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)$`, 'im').exec(raw)?.[1]?.trim();
}

/** The text of a message, without the encoding of its transport. */
function bodyOf({ raw }: { raw: string }): string {
  return raw.replace(/=\r\n/g, '').replace(/=3D/g, '=');
}

test('a message is sent once, as text and HTML, and its links are then deleted', async () => {
  const server = await start();
  const transport = connect(server.url);
  await queue();
  expect(await send(transport)).toBe(1);
  expect(await send(transport)).toBe(0);
  const [mail] = server.received;
  if (!mail) throw new Error('Nothing was received');
  expect(server.received).toHaveLength(1);
  expect([mail.from, mail.to]).toEqual([from.address, ['ada@example.com']]);
  expect(headerOf(mail, 'From')).toBe('Lynxroom <noreply@lynxroom.example>');
  expect(headerOf(mail, 'Subject')).toBe('Set a new password');
  expect(headerOf(mail, 'Auto-Submitted')).toBe('auto-generated');
  expect(bodyOf(mail)).toContain('Content-Type: text/plain');
  expect(bodyOf(mail)).toContain(`\r\n${baseUrl}${link}\r\n`);
  expect(bodyOf(mail)).toContain(`<a href="${baseUrl}${link}"`);
  const { state, data, endedAt } = await readRow();
  expect([state, data, endedAt === null]).toEqual(['sent', null, false]);
});

test('a server that asks to try again gets the same message again, a minute later', async () => {
  let refusals = 1;
  const server = await start({
    onMessage() {
      refusals -= 1;
      if (refusals >= 0) throw refusal(451, '4.7.1 Greylisted, try again later');
    },
  });
  const transport = connect(server.url);
  await queue();
  await send(transport);
  expect(await readRow()).toMatchObject({ state: 'queued', lastError: expect.stringContaining('Greylisted') });
  expect(await send(transport)).toBe(0);
  app.clock.advance(MINUTE_MS);
  expect(await send(transport)).toBe(1);
  const [first, second] = server.received;
  if (!first || !second) throw new Error('The message was not sent twice');
  for (const name of ['Message-ID', 'Date']) {
    expect(headerOf(second, name)).toBe(headerOf(first, name));
    expect(headerOf(first, name)).toBeDefined();
  }
  expect((await readRow()).state).toBe('sent');
});

test('a greylisted recipient is tried again, and an unknown one is not', async () => {
  const server = await start({
    onRecipient(address) {
      throw address.startsWith('unknown') ? refusal(550, '5.1.1 No such user') : refusal(450, '4.2.0 Greylisted');
    },
  });
  const transport = connect(server.url);
  await queue({ to: 'unknown@example.com' });
  await queue({ to: 'grey@example.com' });
  await send(transport);
  const rows = await app.services.db.mailMessage.findMany({ orderBy: { id: 'asc' } });
  expect(rows.map(({ state, data }) => [state, data === null])).toEqual([
    ['failed', true],
    ['queued', false],
  ]);
  expect(rows[0]?.lastError).toContain('No such user');
});

test('a message whose answer was lost is sent again, with the same Message-ID', async () => {
  const server = await startForgetfulServer();
  cleanup.defer(server.close);
  const transport = connect(server.url);
  await queue();
  await send(transport);
  expect((await readRow()).state).toBe('queued');
  app.clock.advance(MINUTE_MS);
  await send(transport);
  const ids = server.received.map((mail) => headerOf(mail, 'Message-ID'));
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(1);
});

test('a message is given up after a day', async () => {
  const transport = connect('smtp://127.0.0.1:1');
  await queue({ kind: 'password-changed', data: { by: 'owner' } });
  for (const delay of RETRY_DELAYS_MS) {
    expect(await send(transport)).toBe(1);
    expect((await readRow()).state).toBe('queued');
    app.clock.advance(delay);
  }
  await send(transport);
  expect(await readRow()).toMatchObject({ state: 'failed', data: null, attempts: RETRY_DELAYS_MS.length + 1 });
});

test('a message is not sent after its link has expired', async () => {
  const server = await start();
  await queue();
  app.clock.advance(HOUR_MS);
  await send(connect(server.url));
  expect([(await readRow()).state, server.received]).toEqual(['dropped', []]);
});

test('a message that needs an account is sent only to the address of one that is not locked', async () => {
  const server = await start();
  const transport = connect(server.url);
  const ada = await addPerson(app);
  const locked = await addPerson(app);
  await app.services.db.user.update({ where: { id: locked.id }, data: { lockedAt: app.clock.now() } });
  await app.services.db.mailMessage.deleteMany();
  for (const to of [ada.email, locked.email, 'nobody@example.com']) await queue({ to, needsAccount: true });
  while ((await send(transport)) > 0);
  expect(server.received.map(({ to }) => to)).toEqual([[ada.email]]);
  expect(await app.services.db.mailMessage.count({ where: { state: 'dropped', data: null } })).toBe(2);
});

test('without a mail server, a message is stored with its links', async () => {
  await queue();
  await send(null);
  const { state, data } = await readRow();
  expect([state, data === null]).toEqual(['kept', false]);
});

test('only one of two workers sends each message', async () => {
  const server = await start();
  const transport = connect(server.url);
  for (let sent = 0; sent < 4; sent += 1) await queue({ to: `person${sent}@example.com` });
  const counts = await Promise.all([send(transport), send(transport), send(transport)]);
  expect(counts.reduce((sum, count) => sum + count)).toBe(4);
  expect(new Set(server.received.map(({ to }) => to[0])).size).toBe(4);
  expect(server.received).toHaveLength(4);
});

describe('a worker', () => {
  /** Starts a mailer whose messages, except those to `quick@...`, the mail server answers only after `open`. */
  async function startHeld() {
    const opened = Promise.withResolvers<void>();
    const server = await start({
      onMessage: ({ to }) => (to[0]?.startsWith('quick') ? undefined : opened.promise),
    });
    const wakeUps = createWakeUps(app.services.db.eventSignal);
    const mailer = startMailer({
      wakeUps,
      services: app.services,
      transport: connect(server.url),
      source: { baseUrl, address: from.address },
      heartbeatMs: 10,
    });
    cleanup.defer(async () => {
      opened.resolve();
      await mailer.stop();
    });
    return {
      server,
      open: opened.resolve,
      receive: (count: number) => expect.poll(() => server.received.length).toBe(count),
    };
  }

  const confirm = (number: number) => queue({ kind: 'verify-email', to: `stranger${number}@example.com` });

  test('that was killed leaves its message for 20 seconds, and one that works keeps it as needed', async () => {
    await queue();
    // As a worker that is killed before it has sent the message.
    const { db, clock } = app.services;
    await leaseDueMail(db, {
      now: clock.now(),
      leasedUntil: new Date(clock.now().getTime() + LEASE_MS),
      held: [],
      kinds: allKinds,
    });
    expect(LEASE_MS).toBe(20_000);
    expect(await send(null)).toBe(0);
    app.clock.advance(LEASE_MS);
    const { open, receive } = await startHeld();
    await receive(1);
    for (let round = 0; round < 4; round += 1) {
      app.clock.advance(LEASE_MS / 2);
      const earliest = app.clock.now().getTime() + LEASE_MS / 2;
      await expect.poll(async () => (await readRow()).dueAt.getTime()).toBeGreaterThan(earliest);
      expect(await send(null)).toBe(0);
    }
    open();
    await expect.poll(async () => (await readRow()).state).toBe('sent');
    expect((await readRow()).attempts).toBe(2);
  });

  test('sends the mail of an account while mail of strangers and of workspaces fills its connections', async () => {
    const invitation = { workspaceName: 'Acme', inviterName: 'Ada', role: 'member', link };
    for (let number = 0; number < 50; number += 1) {
      await confirm(number);
      await queue({ kind: 'workspace-invitation', to: `invited${number}@example.com`, data: invitation });
    }
    const { server, receive } = await startHeld();
    await receive(3);
    const lanes = server.received.map(({ to }) => to[0]?.replace(/\d+/, ''));
    expect(lanes.toSorted()).toEqual(['invited@example.com', 'invited@example.com', 'stranger@example.com']);
    await queue({ to: 'quick@example.com' });
    await queue({ kind: 'password-changed', to: 'quick@example.com', data: { by: 'owner' } });
    await receive(5);
    const quick = { toAddress: 'quick@example.com', state: 'sent' };
    await expect.poll(() => app.services.db.mailMessage.count({ where: quick })).toBe(2);
  });

  test('lets the kinds of a lane take turns', async () => {
    for (let number = 0; number < 20; number += 1)
      await queue({ kind: 'verify-email', to: `quick${number}@example.com` });
    const until = app.clock.now().getTime() / 1000 + 900;
    await queue({ kind: 'confirm-booking', to: 'quick-guest@example.com', data: { booking, link, until } });
    const { server, receive } = await startHeld();
    await receive(21);
    expect(server.received.findIndex(({ to }) => to[0] === 'quick-guest@example.com')).toBeLessThan(2);
  });
});

test('a success that is recorded after another worker has taken the message is the last attempt', async () => {
  const { db, clock } = app.services;
  await queue();
  const lease = () =>
    leaseDueMail(db, {
      now: clock.now(),
      leasedUntil: new Date(clock.now().getTime() + LEASE_MS),
      held: [],
      kinds: allKinds,
    });
  const [first] = await lease();
  app.clock.advance(LEASE_MS);
  const [second] = await lease();
  if (!first || !second) throw new Error('The message was not leased twice');
  await recordAttempt(db, first, { state: 'failed', lastError: 'late' }, clock.now());
  expect((await readRow()).state).toBe('queued');
  await recordAttempt(db, first, { state: 'sent' }, clock.now());
  await recordAttempt(db, second, { state: 'queued', dueAt: clock.now(), lastError: 'busy' }, clock.now());
  expect((await readRow()).state).toBe('sent');
});

test('an address or a text cannot add a recipient or a header', async () => {
  const server = await start();
  const userAgent = 'x\r\nBcc: eve@example.com\r\n\r\nHello';
  await queue({
    kind: 'new-sign-in',
    to: '"a,eve"@example.com',
    data: { method: 'password', address: null, userAgent, at: 0 },
  });
  await send(connect(server.url));
  const [mail] = server.received;
  if (!mail) throw new Error('Nothing was received');
  expect(mail.to).toHaveLength(1);
  expect(mail.raw).not.toMatch(/^Bcc:/im);
});

test.each([
  ['does not respond', '', true],
  ['stops responding after its greeting', '220 mail.example\r\n', false],
])('a message to a server that %s waits', async (_, greeting, isReported) => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket) && socket.write(greeting)).listen(0, '127.0.0.1');
  cleanup.defer(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  await once(silent, 'listening');
  // `as`: a server that listens on a port has an address of this type.
  const { port } = silent.address() as AddressInfo;
  const timeouts = { connectionTimeout: 1_000, greetingTimeout: 200, socketTimeout: 1_000 };
  const transport = createSmtpTransport({ smtpUrl: `smtp://127.0.0.1:${port}`, from, timeouts });
  cleanup.defer(() => transport.close());
  await queue();
  app.logLines.length = 0;
  await send(transport);
  expect(await readRow()).toMatchObject({ state: 'queued' });
  const reports = app.logLines.filter(({ msg }) => msg === 'The mail server cannot be used: check SMTP_URL');
  expect(reports).toHaveLength(isReported ? 1 : 0);
});

describe('encryption', () => {
  test('a server with a certificate that is not trusted gets nothing, and the message waits', async () => {
    for (const options of [{ offersTls: true }, { isTlsOnly: true }]) {
      const server = await start(options);
      await queue();
      await send(connect(server.url));
      expect(server.received).toEqual([]);
      expect(await readRow()).toMatchObject({ state: 'queued', lastError: expect.stringContaining('certificate') });
      await app.services.db.mailMessage.deleteMany();
    }
    expect(app.logLines.some(({ msg }) => msg === 'The mail server cannot be used: check SMTP_URL')).toBe(true);
  });

  test('a server with a trusted certificate gets the message encrypted', async () => {
    for (const options of [{ offersTls: true }, { isTlsOnly: true }]) {
      const server = await start(options);
      await queue();
      await send(connect(server.url, certificate));
      expect(server.received.map(({ isEncrypted }) => isEncrypted)).toEqual([true]);
    }
  });

  test('a server of another machine must offer encryption, unless the operator says otherwise', async () => {
    const server = await start({ login: { user: 'lynx', pass: 'secret' } });
    // A name that leads to this machine, but does not say so.
    const url = `smtp://lynx:secret@0.0.0.0:${server.port}`;
    await queue();
    await send(connect(url));
    expect([(await readRow()).state, server.received]).toEqual(['queued', []]);
    app.clock.advance(MINUTE_MS);
    await send(connect(`${url}?tls=off`));
    expect((await readRow()).state).toBe('sent');
  });

  test('a wrong password is reported as our fault, and the message waits', async () => {
    const server = await start({ login: { user: 'lynx', pass: 'secret' } });
    await queue();
    await send(connect(server.url.replace('secret', 'wrong')));
    const { state, lastError } = await readRow();
    expect(state).toBe('queued');
    expect(lastError).not.toContain('wrong');
  });
});
