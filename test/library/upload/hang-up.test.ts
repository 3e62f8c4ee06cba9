import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../storage/sources.ts';
import { stagedIn, storedKeys } from '../../support/stored-files.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { createFaultyStore } from './faults.ts';
import { expectItems, expectNoTrace, itemsOf } from './traces.ts';
import { fieldPart, filePart, multipart, openUpload, pdfBytes, writeAll } from './wire.ts';

const { faults, wrapStore, real } = createFaultyStore();

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ wrapStore });
});
afterEach(() => {
  delete faults.put;
});
afterAll(() => app.close());

async function open(team: Team, length: number): Promise<{ socket: Socket; serverSide: Socket }> {
  const accepted = once(app.server, 'connection') as Promise<[Socket]>;
  const socket = await openUpload(`${app.url}${team.path}/library`, team.member.token, `Content-Length: ${length}`);
  return { socket, serverSide: (await accepted)[0] };
}

const ways: [string, (socket: Socket) => void][] = [
  ['closes', (socket) => socket.destroy()],
  ['resets', (socket) => socket.resetAndDestroy()],
  ['stops sending', (socket) => socket.end()],
];

describe('a client that disconnects before its last byte leaves nothing behind', () => {
  const body = multipart(filePart({ bytes: Buffer.concat([...pdfBytes(10_000_000)]) }));
  for (const [way, leave] of ways) {
    for (const percent of [1, 50, 99.9]) {
      test(`if it ${way} after ${percent} %`, async () => {
        const team = await addTeam(app);
        const { promise: settled, resolve } = Promise.withResolvers<unknown>();
        faults.put = (...args) => {
          const putting = real().put(...args);
          putting.then(resolve, resolve);
          return putting;
        };
        const { socket } = await open(team, body.length);
        await writeAll(socket, body.subarray(0, Math.floor((body.length * percent) / 100)));
        await until(async () => (await stagedIn(app)).length > 0);
        leave(socket);
        expect(await settled).toMatchObject({ code: 'BAD_REQUEST' });
        await until(async () => (await stagedIn(app)).length === 0);
        await expectNoTrace(app, team.id);
        socket.destroy();
      });
    }
  }

  test('if it disconnects before the last boundary, when the file is already stored', async () => {
    const team = await addTeam(app);
    const whole = multipart(filePart(), fieldPart('name', 'never arrives'));
    const { promise: stored, resolve } = Promise.withResolvers<void>();
    faults.put = async (...args) => {
      await real().put(...args);
      resolve();
    };
    const { socket } = await open(team, whole.length);
    await writeAll(socket, whole.subarray(0, -20));
    await stored;
    socket.destroy();
    await until(async () => (await storedKeys(app, team.id)).length === 0);
    await expectNoTrace(app, team.id);
  });

  test('and aborts a store that is still working', async () => {
    const team = await addTeam(app);
    const { promise: reason, resolve } = Promise.withResolvers<unknown>();
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    faults.put = (_key, _source, { signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          resolve(signal.reason);
          reject(signal.reason);
        });
        start();
      });
    const { socket } = await open(team, 1_000_000);
    await writeAll(socket, filePart({ bytes: Buffer.concat([...pdfBytes(10_000)]) }));
    await started;
    socket.destroy();
    expect(await reason).toMatchObject({ code: 'BAD_REQUEST', message: 'The request was cut off' });
    await expectNoTrace(app, team.id);
  });
});

describe('a client that disconnects right after its last byte has uploaded', () => {
  for (const [way, leave] of ways.filter(([name]) => name !== 'resets')) {
    for (const size of [10, 100_000, 3_000_000]) {
      test(`if it ${way} after a file of ${size} bytes`, async () => {
        const team = await addTeam(app);
        const body = multipart(filePart({ bytes: Buffer.concat([...pdfBytes(size)]) }), fieldPart('name', 'Complete'));
        const { socket } = await open(team, body.length);
        await writeAll(socket, body);
        leave(socket);
        await until(async () => (await itemsOf(app, team.id)).length > 0);
        await expectItems(app, team.id, 1);
        expect((await itemsOf(app, team.id))[0]).toMatchObject({ name: 'Complete', size: BigInt(size) });
        socket.destroy();
      });
    }
  }

  // The last bytes are then in the server's buffers when the connection ends.
  for (const size of [100_000, 1_000_000, 3_000_000]) {
    test(`even if a slow store has not read all of ${size} bytes yet`, async () => {
      const team = await addTeam(app);
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      let isClosed = false;
      let readAfterEnd = 0;
      faults.put = (key, source, options) => {
        const slowly = async function* () {
          for await (const chunk of source) {
            if (isClosed) readAfterEnd += chunk.length;
            yield chunk;
            // Slow enough that the connection ends first.
            await Promise.race([closed, delay(5)]);
          }
        };
        return real().put(key, Readable.from(slowly()), options);
      };
      const body = multipart(filePart({ bytes: Buffer.concat([...pdfBytes(size)]) }));
      const { socket, serverSide } = await open(team, body.length);
      serverSide.once('close', () => {
        isClosed = true;
        resolve();
      });
      await writeAll(socket, body);
      socket.destroy();
      await until(async () => (await itemsOf(app, team.id)).length > 0);
      expect(readAfterEnd).toBeGreaterThan(0);
      await expectItems(app, team.id, 1);
      expect((await itemsOf(app, team.id))[0]?.size).toBe(BigInt(size));
    });
  }
});
