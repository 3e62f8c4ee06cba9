/** Slow and disconnecting clients of the import and the export. */
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
    wrapDatabase: (db) => {
      const { run } = db.sql;
      Object.assign(db.sql, {
        run: (...[called, params]: Parameters<typeof run>) => {
          if (called.name === 'export-contacts') batches += 1;
          return run(called, params);
        },
      });
      return db;
    },
  });
  team = await addTeam(app);
});
afterAll(() => app.close());

async function total(): Promise<number> {
  return (await app.http.get(`${team.path}/contacts?limit=1`, team.member.token)).body.total;
}

/** How many statements of the application the database is running. */
async function countActiveStatements(): Promise<number> {
  const [row] = await app.services.db.$queryRaw<{ active: number }[]>`
    select count(*)::int as active from pg_stat_activity
    where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`;
  return row?.active ?? 0;
}

/** Serves the raw operations alone. `answered` counts ended handlers, even if the client has disconnected. */
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
  const { port } = fastify.server.address() as AddressInfo; // A server that listens on TCP has an AddressInfo.
  const close = async (): Promise<void> => {
    fastify.server.closeAllConnections();
    await fastify.close();
  };
  return { port, answered: () => answered, close };
}

test('an import that arrives too slowly gets 408', async () => {
  const { port, close } = await startServer({ ...defaultTimeouts, periodMs: 60, minBytes: 1_000, drainMs: 50 });
  const sent = request({
    port,
    method: 'POST',
    path: `${team.path}/contacts/import`,
    headers: { authorization: `Bearer ${team.owner.token}`, 'content-type': 'text/csv', 'content-length': 1_000_000 },
  });
  sent.on('error', () => {});
  sent.write('name,email\nVera,vera@example.com\n');
  const slowWrites = setInterval(() => sent.write('x'), 10);
  const [answer] = await once(sent, 'response');
  clearInterval(slowWrites);
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

test('an interrupted import writes nothing; a complete one is written after a disconnect', async () => {
  const csv = `email\n${Array.from({ length: 700 }, (_, index) => `p${index}@example.com\n`).join('')}`;
  const { port, answered, close } = await startServer();
  const interrupted = await openImport(port, csv.length + 10);
  interrupted.write(csv);
  await delay(50);
  interrupted.destroy();
  // After its answer an import writes nothing.
  await expect.poll(answered).toBe(1);
  expect(await total()).toBe(0);
  const complete = await openImport(port, csv.length);
  complete.end(csv);
  await expect.poll(total).toBe(700);
  complete.destroy();
  await close();
});

test('an export reads from the database only as fast as the client reads', async () => {
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
      async () => {
        const isUnchanged = batches === before && (await countActiveStatements()) === 0;
        before = batches;
        return isUnchanged;
      },
      { interval: 500 },
    )
    .toBe(true);
  // The whole export would take 122 batches.
  expect(batches).toBeLessThan(100);
  socket.destroy();
  await delay(300);
  expect(batches).toBe(before);
});
