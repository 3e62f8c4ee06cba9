import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../storage/sources.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { createFaultyStore } from './faults.ts';
import { expectItems, expectNoTrace, itemsOf } from './traces.ts';
import { startUploadServer } from './upload-server.ts';
import {
  END,
  filePart,
  largeBody,
  multipart,
  openUpload,
  parseAnswer,
  partHead,
  pdfBytes,
  readUntilClosed,
  send,
  writeAll,
} from './wire.ts';

const { faults, wrapStore, real } = createFaultyStore();
const MIB = 1024 * 1024;

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ wrapStore });
});
beforeEach(async () => {
  team = await addTeam(app);
});
afterEach(() => {
  delete faults.put;
});
afterAll(() => app.close());

describe('a slow store', () => {
  test('never has more than 2 MiB of the connection read ahead', async () => {
    const accepted = once(app.server, 'connection') as Promise<[Socket]>;
    let max = 0;
    faults.put = async (_key, source) => {
      const [connection] = await accepted;
      let taken = 0;
      for await (const chunk of source) {
        await delay(1);
        max = Math.max(max, connection.bytesRead - taken);
        taken += chunk.length;
      }
    };
    const answer = await send(`${app.url}${team.path}/library`, largeBody(40 * MIB), { token: team.member.token });
    expect(answer.status).toBe(200);
    expect(max).toBeGreaterThan(0);
    expect(max).toBeLessThanOrEqual(2 * MIB);
  });

  test('that reads nothing stops the client until it reads again', async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    faults.put = async (key, source, options) => {
      await opened;
      return real().put(key, source, options);
    };
    const size = 40 * MIB;
    const body = [partHead({}), ...pdfBytes(size), Buffer.from('\r\n'), END];
    const length = body.reduce((sum, bytes) => sum + bytes.length, 0);
    const socket = await openUpload(`${app.url}${team.path}/library`, team.member.token, `Content-Length: ${length}`);
    for (const bytes of body) socket.write(bytes);
    // Once the kernel's buffers are full, the rest stays in the client's buffer.
    let before = -1;
    await until(async () => {
      const isUnchanged = socket.writableLength === before;
      before = socket.writableLength;
      await delay(100);
      return isUnchanged;
    });
    expect(socket.writableLength).toBeGreaterThan(20 * MIB);
    open();
    await until(async () => (await itemsOf(app, team.id)).length > 0);
    expect((await itemsOf(app, team.id))[0]?.size).toBe(BigInt(size));
    socket.destroy();
  });
});

describe('a client that sends too slowly', () => {
  const timeouts = { periodMs: 60, minBytes: 1_000 };

  /** Sends `start` and then a byte every few milliseconds until the connection is closed. */
  const sendSlowly = async (start: Buffer) => {
    const server = await startUploadServer(app, { ...timeouts, drainMs: 50 });
    const socket = await openUpload(`${server.url}${team.path}/library`, team.member.token, 'Content-Length: 1000000');
    const response = readUntilClosed(socket);
    await writeAll(socket, start);
    while (await writeAll(socket, Buffer.from('x'))) await delay(10);
    await server.close();
    return parseAnswer(await response);
  };

  for (const [where, start] of [
    ['before any byte', Buffer.alloc(0)],
    ['in the headers of a part', Buffer.from('--test-boundary-7d1a9f\r\nContent-Disposition: form-da')],
    ['in the first bytes of the file', partHead({})],
    ['in the file', Buffer.concat([partHead({}), ...pdfBytes(20_000)])],
    ['in a field after the file', Buffer.concat([filePart(), partHead({ name: 'name', filename: null, type: null })])],
  ] as const) {
    test(`${where} gets 408, is disconnected and leaves nothing behind`, async () => {
      const { status, body } = await sendSlowly(start);
      expect([status, body.error, body.code]).toEqual([408, 'The request body arrived too slowly', 'REQUEST_TIMEOUT']);
      await expectNoTrace(app, team.id);
    });
  }

  test('or sends nothing gets 408', async () => {
    const server = await startUploadServer(app, { ...timeouts, drainMs: 50 });
    const socket = await openUpload(`${server.url}${team.path}/library`, team.member.token, 'Content-Length: 1000000');
    expect(parseAnswer(await readUntilClosed(socket)).status).toBe(408);
    await server.close();
    await expectNoTrace(app, team.id);
  });

  test('but above the minimum rate succeeds', async () => {
    const server = await startUploadServer(app, { periodMs: 250, minBytes: 1_000 });
    const bytes = Buffer.concat([...pdfBytes(60_000)]);
    const slowly = async function* () {
      const body = multipart(filePart({ bytes }));
      for (let at = 0; at < body.length; at += 1_500) {
        yield body.subarray(at, at + 1_500);
        await delay(15);
      }
    };
    const answer = await send(`${server.url}${team.path}/library`, slowly(), { token: team.member.token });
    expect([answer.status, answer.body.item?.size]).toEqual([200, bytes.length]);
    await expectItems(app, team.id, 1);
    await server.close();
  });

  test('because the store is slow succeeds', async () => {
    faults.put = (key, source, options) => {
      const slowly = async function* () {
        yield* [];
        await delay(timeouts.periodMs * 5);
        yield* source;
      };
      return real().put(key, Readable.from(slowly()), options);
    };
    const server = await startUploadServer(app, timeouts);
    const answer = await send(`${server.url}${team.path}/library`, largeBody(5 * MIB), { token: team.member.token });
    expect(answer.status).toBe(200);
    await server.close();
  });

  test('in total gets 408', async () => {
    const server = await startUploadServer(app, { periodMs: 20, minBytes: 1, totalMs: 200, drainMs: 50 });
    const endless = async function* () {
      yield partHead({});
      for (;;) {
        yield Buffer.alloc(1_000, 'x');
        await delay(5);
      }
    };
    const answer = await send(`${server.url}${team.path}/library`, endless(), { token: team.member.token });
    expect([answer.status, answer.body.error]).toEqual([408, 'The request body arrived too slowly']);
    await server.close();
    await expectNoTrace(app, team.id);
  });
});
