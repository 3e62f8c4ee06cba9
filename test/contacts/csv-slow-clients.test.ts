/** Clients of the import and the export that are slow, or go away. */
import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import cookie from '@fastify/cookie';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { handleErrors } from '../../src/http/errors.ts';
import { serveRawOperations } from '../../src/http/raw-operations.ts';
import { defaultTimeouts } from '../../src/http/streaming-body.ts';
import { rawOperations } from '../../src/routers/index.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
let batches = 0;
beforeAll(async () => {
  app = await startTestApp({
    wrapDatabase: (db) =>
      // An extended client is one to all who only query; its type leaves out what we do not use.
      db.$extends({
        query: {
          contact: {
            findMany: ({ args, query }) => {
              batches += 1;
              return query(args);
            },
          },
        },
      }) as unknown as typeof db,
  });
  team = await addTeam(app);
});
afterAll(() => app.close());

async function total(): Promise<number> {
  return (await app.http.get(`${team.path}/contacts?limit=1`, team.member.token)).body.total;
}

/** Serves the raw operations alone. `answered` counts the handlers that have ended, even where the client has gone. */
async function startServer(timeouts = defaultTimeouts) {
  const fastify = Fastify();
  handleErrors(fastify);
  await fastify.register(cookie);
  let answered = 0;
  fastify.addHook('onSend', async () => {
    answered += 1;
  });
  await fastify.register(async (scope) => serveRawOperations(scope, app.services, rawOperations, timeouts));
  await fastify.listen({ host: '127.0.0.1', port: 0 });
  const { port } = fastify.server.address() as AddressInfo; // It listens on TCP, so this is no pipe name.
  const close = async (): Promise<void> => {
    fastify.server.closeAllConnections();
    await fastify.close();
  };
  return { port, answered: () => answered, close };
}

test('an import that drips in gets 408, and is cut off', async () => {
  const { port, close } = await startServer({ ...defaultTimeouts, periodMs: 60, minBytes: 1_000, drainMs: 50 });
  const sent = request({
    port,
    method: 'POST',
    path: `${team.path}/contacts/import`,
    headers: { authorization: `Bearer ${team.owner.token}`, 'content-type': 'text/csv', 'content-length': 1_000_000 },
  });
  sent.on('error', () => {});
  sent.write('name,email\nVera,vera@example.com\n');
  const dripping = setInterval(() => sent.write('x'), 10);
  const [answer] = await once(sent, 'response');
  clearInterval(dripping);
  expect(answer.statusCode).toBe(408);
  sent.destroy();
  await close();
  expect(await total()).toBe(0);
});

async function openImport(port: number, length: number) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const head = [
    `POST ${team.path}/contacts/import HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${team.owner.token}`,
    'Content-Type: text/csv',
    `Content-Length: ${length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  return socket;
}

test('an import that was cut off keeps whole batches at most; one whose last byte arrived is kept', async () => {
  const csv = `email\n${Array.from({ length: 700 }, (_, index) => `cut${index}@example.com\n`).join('')}`;
  const { port, answered, close } = await startServer();
  const cut = await openImport(port, csv.length + 10);
  cut.write(csv);
  await delay(50);
  cut.destroy();
  // Who has answered writes no more.
  await expect.poll(answered, { timeout: 5_000 }).toBe(1);
  expect([0, 500]).toContain(await total());
  const whole = await openImport(port, csv.length);
  whole.end(csv);
  await expect.poll(total, { timeout: 5_000 }).toBe(700);
  whole.destroy();
  await close();
});

test('an export is read from the database only as fast as it is taken', async () => {
  const wide = 'w'.repeat(100);
  await app.services.db.contact.createMany({
    data: Array.from({ length: 60_000 }, (_, index) => ({
      workspaceId: team.id,
      name: wide,
      email: `${wide}${index}@example.com`,
      createdAt: app.clock.now(),
    })),
  });
  batches = 0;
  const { port } = new URL(app.url);
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  socket.pause();
  socket.write(
    `GET ${team.path}/contacts.csv HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${team.owner.token}\r\n\r\n`,
  );
  await expect.poll(() => batches).toBeGreaterThan(0);
  let before = -1;
  await expect
    .poll(
      () => {
        const stands = batches === before;
        before = batches;
        return stands;
      },
      { interval: 500, timeout: 10_000 },
    )
    .toBe(true);
  // All of it would take 122.
  expect(batches).toBeLessThan(100);
  socket.destroy();
  await delay(300);
  expect(batches).toBe(before);
});
