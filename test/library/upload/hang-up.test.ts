import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../storage/sources.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { createFaultyStore } from './faults.ts';
import { expectItems, expectNoTrace, itemsOf, objectsOf, stagedIn } from './traces.ts';
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

describe('a client that goes away before its last byte leaves nothing', () => {
  const body = multipart(filePart({ bytes: Buffer.concat([...pdfBytes(10_000_000)]) }));
  for (const [way, leave] of ways) {
    for (const percent of [1, 50, 99.9]) {
      test(`it ${way} after ${percent} %`, async () => {
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

  test('between the file and the last boundary, when the file is stored already', async () => {
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
    await until(async () => (await objectsOf(app, team.id)).length === 0);
    await expectNoTrace(app, team.id);
  });

  test('a store that waits for itself hears of it', async () => {
    const team = await addTeam(app);
    const { promise: reason, resolve } = Promise.withResolvers<unknown>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    faults.put = (_key, _source, { signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          resolve(signal.reason);
          reject(signal.reason);
        });
        begin();
      });
    const { socket } = await open(team, 1_000_000);
    await writeAll(socket, filePart({ bytes: Buffer.concat([...pdfBytes(10_000)]) }));
    await begun;
    socket.destroy();
    expect(await reason).toMatchObject({ code: 'BAD_REQUEST', message: 'The request was cut off' });
    await expectNoTrace(app, team.id);
  });
});

describe('a client that goes away right after its last byte has uploaded', () => {
  for (const [way, leave] of ways.filter(([name]) => name !== 'resets')) {
    for (const size of [10, 100_000, 3_000_000]) {
      test(`it ${way}, after ${size} bytes of file`, async () => {
        const team = await addTeam(app);
        const body = multipart(filePart({ bytes: Buffer.concat([...pdfBytes(size)]) }), fieldPart('name', 'Kept'));
        const { socket } = await open(team, body.length);
        await writeAll(socket, body);
        leave(socket);
        await until(async () => (await itemsOf(app, team.id)).length > 0);
        await expectItems(app, team.id, 1);
        expect((await itemsOf(app, team.id))[0]).toMatchObject({ name: 'Kept', size: BigInt(size) });
        socket.destroy();
      });
    }
  }

  // What arrived last then lies in buffers of ours when the connection ends.
  for (const size of [100_000, 1_000_000, 3_000_000]) {
    test(`also while a slow store has still to take ${size} bytes`, async () => {
      const team = await addTeam(app);
      const { promise: gone, resolve } = Promise.withResolvers<void>();
      let isGone = false;
      let takenAfter = 0;
      faults.put = (key, source, options) => {
        const slowly = async function* () {
          for await (const chunk of source) {
            if (isGone) takenAfter += chunk.length;
            yield chunk;
            // As slow as it must be for the end of the connection to come first.
            await Promise.race([gone, delay(5)]);
          }
        };
        return real().put(key, Readable.from(slowly()), options);
      };
      const body = multipart(filePart({ bytes: Buffer.concat([...pdfBytes(size)]) }));
      const { socket, serverSide } = await open(team, body.length);
      serverSide.once('close', () => {
        isGone = true;
        resolve();
      });
      await writeAll(socket, body);
      socket.destroy();
      await until(async () => (await itemsOf(app, team.id)).length > 0);
      expect(takenAfter).toBeGreaterThan(0);
      await expectItems(app, team.id, 1);
      expect((await itemsOf(app, team.id))[0]?.size).toBe(BigInt(size));
    });
  }
});
