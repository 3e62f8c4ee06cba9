import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/core/time.ts';
import type { Database } from '../../../src/db/client.ts';
import { StorageUnavailableError } from '../../../src/storage/object-store.ts';
import { sweepStorage } from '../../../src/storage/sweep.ts';
import { makePdf } from '../../support/media.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { createFaultyStore, storeIsDown } from './faults.ts';
import { expectItems, expectNoTrace, objectsOf, tracesOf } from './traces.ts';
import { fieldPart, filePart, largeBody, multipart, send } from './wire.ts';

const { faults, wrapStore, real } = createFaultyStore();

/** How a transaction goes wrong; null: it does not. */
let transactionFault: ((run: () => Promise<unknown>) => Promise<unknown>) | null = null;

function wrapDatabase(db: Database): Database {
  return new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== '$transaction' || typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const run = (): Promise<unknown> => value.apply(target, args);
        return transactionFault ? transactionFault(run) : run();
      };
    },
  });
}

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ wrapStore, wrapDatabase });
});
afterEach(() => {
  for (const name of Object.keys(faults)) Reflect.deleteProperty(faults, name);
  transactionFault = null;
});
afterAll(() => app.close());

function SMALL() {
  return [multipart(filePart({ bytes: makePdf() }))];
}
const UNAVAILABLE = 'Upload failed: storage service unavailable';

function post(team: Team, body: Iterable<Buffer>) {
  return send(`${app.url}${team.path}/library`, body, { token: team.member.token });
}

describe('the store fails', () => {
  const expectUnavailable = async (team: Team, body: Iterable<Buffer>): Promise<void> => {
    const answer = await post(team, body);
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({
      error: UNAVAILABLE,
      message: UNAVAILABLE,
      code: 'STORAGE_UNAVAILABLE',
      request_id: answer.headers['x-request-id'],
    });
    const logged = app.logLines.find((line) => line.reqId === answer.body.request_id && line.level === 50);
    expect(JSON.stringify(logged)).toContain('storage service unavailable');
    await expectNoTrace(app, team.id);
  };

  for (const [label, body] of [
    ['a small file', SMALL],
    ['a large file', () => largeBody(20_000_000)],
  ] as const) {
    test(`at once, with ${label}: 500, and nothing is left`, async () => {
      const team = await addTeam(app);
      faults.put = storeIsDown;
      await expectUnavailable(team, body());
    });

    test(`after it took ${label} in: 500, and nothing is left`, async () => {
      const team = await addTeam(app);
      faults.put = async (_key, source) => {
        for await (const _ of source);
        await storeIsDown();
      };
      await expectUnavailable(team, body());
    });
  }

  test('half-way: 500, and nothing is left', async () => {
    const team = await addTeam(app);
    faults.put = (key, source, options) => {
      const half = async function* () {
        let size = 0;
        for await (const chunk of source) {
          size += chunk.length;
          if (size > 5_000_000) throw new StorageUnavailableError('The connection broke', undefined);
          yield chunk;
        }
      };
      return real().put(key, Readable.from(half()), options);
    };
    await expectUnavailable(team, largeBody(20_000_000));
  });

  test('the folder of the disk store is not there: 500, and all is well once it is back', async () => {
    const team = await addTeam(app);
    const staging = join(app.filesDir, 'staging');
    await rename(staging, `${staging}-away`);
    await writeFile(staging, 'in the way');
    const answer = await post(team, SMALL());
    expect([answer.status, answer.body.error]).toEqual([500, UNAVAILABLE]);
    expect(JSON.stringify(answer.body)).not.toContain(app.filesDir);
    await rename(`${staging}`, `${staging}-file`);
    await rename(`${staging}-away`, staging);
    await expectNoTrace(app, team.id);
    expect((await post(team, SMALL())).status).toBe(200);
  });

  test('in a way that nobody foresaw: 500 without details, and nothing is left', async () => {
    const team = await addTeam(app);
    faults.put = () => Promise.reject(new TypeError('secret detail'));
    const answer = await post(team, largeBody(3_000_000));
    expect([answer.status, answer.body.error]).toEqual([500, 'Internal server error']);
    expect(JSON.stringify(answer.body)).not.toContain('secret detail');
    await expectNoTrace(app, team.id);
  });
});

describe('the database fails after the file was stored', () => {
  const raising = async (table: string, kind: string, work: () => Promise<void>): Promise<void> => {
    const { db } = app.services;
    await db.$executeRawUnsafe(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'secret detail'; end $$`,
    );
    await db.$executeRawUnsafe(
      `create ${kind === 'deferred' ? 'constraint' : ''} trigger refuse after insert on ${table}
       ${kind === 'deferred' ? 'deferrable initially deferred' : ''} for each row execute function refuse()`,
    );
    await work().finally(() => db.$executeRawUnsafe('drop function refuse() cascade'));
  };

  for (const [label, table, kind] of [
    ['writing the row', 'library_items', 'at once'],
    ['writing the event', 'events', 'at once'],
    ['committing', 'library_items', 'deferred'],
  ] as const) {
    test(`${label}: 500 without details, and neither row nor event nor file is left`, async () => {
      const team = await addTeam(app);
      await raising(table, kind, async () => {
        const { status, body } = await post(team, SMALL());
        expect([status, body.error]).toEqual([500, 'Internal server error']);
        expect(JSON.stringify(body)).not.toContain('secret detail');
      });
      await expectNoTrace(app, team.id);
    });
  }

  test('a commit whose outcome never arrived keeps row and file together', async () => {
    const team = await addTeam(app);
    let isFirst = true;
    transactionFault = async (run) => {
      const result = await run();
      if (!isFirst) return result;
      isFirst = false;
      throw new Error('Connection terminated unexpectedly');
    };
    const { status } = await post(team, SMALL());
    expect(status).toBe(500);
    await expectItems(app, team.id, 1);
  });

  test('a database that is gone leaves the file to the sweep, which removes it a day later', async () => {
    const team = await addTeam(app);
    transactionFault = () => Promise.reject(new Error('connect ECONNREFUSED'));
    expect((await post(team, SMALL())).status).toBe(500);
    expect(await tracesOf(app, team.id)).toMatchObject({ rows: 0, objects: 1 });
    transactionFault = null;
    await sweepStorage(app.services);
    expect(await objectsOf(app, team.id)).toHaveLength(1);
    const tomorrow = new Date(Date.now() + DAY_MS + 1000);
    await sweepStorage({ ...app.services, clock: { now: () => tomorrow } });
    await expectNoTrace(app, team.id);
  });
});

describe('what was refused after it was stored, while the store cannot remove', () => {
  const refusedByName = () => [multipart(filePart({ bytes: makePdf() }), fieldPart('name', 'n'.repeat(300)))];

  test('is answered as it would be anyway, and left to the sweep', async () => {
    const team = await addTeam(app);
    faults.remove = storeIsDown;
    const { status, body } = await post(team, refusedByName());
    expect([status, body.error]).toEqual([400, 'name must have at most 255 characters']);
    expect(await objectsOf(app, team.id)).toHaveLength(1);
    delete faults.remove;
    const tomorrow = new Date(Date.now() + DAY_MS + 1000);
    await sweepStorage({ ...app.services, clock: { now: () => tomorrow } });
    await expectNoTrace(app, team.id);
  });

  test('a store that hangs is waited for only so long', async () => {
    const team = await addTeam(app);
    const { promise, resolve } = Promise.withResolvers<AbortSignal | undefined>();
    faults.remove = (_key, { signal } = {}) => {
      resolve(signal);
      return Promise.reject(new StorageUnavailableError('Gave up', undefined));
    };
    await post(team, refusedByName());
    expect(await promise).toBeInstanceOf(AbortSignal);
  });
});
