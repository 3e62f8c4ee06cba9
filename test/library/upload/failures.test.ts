import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/core/time.ts';
import type { Database } from '../../../src/db/client.ts';
import { ConnectionLostError } from '../../../src/db/refused-calls.ts';
import { StorageUnavailableError } from '../../../src/storage/object-store.ts';
import { sweepStorage } from '../../../src/storage/sweep.ts';
import { makePdf } from '../../support/media.ts';
import { storedKeys } from '../../support/stored-files.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { createFaultyStore, failUnavailable } from './faults.ts';
import { expectItems, expectNoTrace, tracesOf } from './traces.ts';
import { fieldPart, filePart, largeBody, multipart, send } from './wire.ts';

const { faults, wrapStore, real } = createFaultyStore();

/** Makes transactions fail, if it is set. */
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

function smallBody() {
  return [multipart(filePart({ bytes: makePdf() }))];
}
const UNAVAILABLE = 'Upload failed: storage service unavailable';

function post(team: Team, body: Iterable<Buffer>) {
  return send(`${app.url}${team.path}/library`, body, { token: team.member.token });
}

describe('if the store fails', () => {
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
    ['a small file', smallBody],
    ['a large file', () => largeBody(20_000_000)],
  ] as const) {
    test(`at once, ${label} gives 500 and leaves nothing behind`, async () => {
      const team = await addTeam(app);
      faults.put = failUnavailable;
      await expectUnavailable(team, body());
    });

    test(`after reading ${label}, the upload gives 500 and leaves nothing behind`, async () => {
      const team = await addTeam(app);
      faults.put = async (_key, source) => {
        for await (const _ of source);
        await failUnavailable();
      };
      await expectUnavailable(team, body());
    });
  }

  test('half-way, the upload gives 500 and leaves nothing behind', async () => {
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

  test('because the folder of the disk store is missing, uploads give 500 until it is back', async () => {
    const team = await addTeam(app);
    const staging = join(app.filesDir, 'staging');
    await rename(staging, `${staging}-away`);
    await writeFile(staging, 'in the way');
    const answer = await post(team, smallBody());
    expect([answer.status, answer.body.error]).toEqual([500, UNAVAILABLE]);
    expect(JSON.stringify(answer.body)).not.toContain(app.filesDir);
    await rename(`${staging}`, `${staging}-file`);
    await rename(`${staging}-away`, staging);
    await expectNoTrace(app, team.id);
    expect((await post(team, smallBody())).status).toBe(200);
  });

  test('with an unexpected error, the upload gives 500 without details and leaves nothing behind', async () => {
    const team = await addTeam(app);
    faults.put = () => Promise.reject(new TypeError('secret detail'));
    const answer = await post(team, largeBody(3_000_000));
    expect([answer.status, answer.body.error]).toEqual([500, 'Internal server error']);
    expect(JSON.stringify(answer.body)).not.toContain('secret detail');
    await expectNoTrace(app, team.id);
  });
});

describe('if the database fails after the file was stored', () => {
  const withFailingInsert = async (table: string, kind: string, work: () => Promise<void>): Promise<void> => {
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
    ['writing the row', 'library_items', 'immediate'],
    ['writing the event', 'events', 'immediate'],
    ['committing', 'library_items', 'deferred'],
  ] as const) {
    test(`when ${label}, the upload gives 500 without details and leaves nothing behind`, async () => {
      const team = await addTeam(app);
      await withFailingInsert(table, kind, async () => {
        const { status, body } = await post(team, smallBody());
        expect([status, body.error]).toEqual([500, 'Internal server error']);
        expect(JSON.stringify(body)).not.toContain('secret detail');
      });
      await expectNoTrace(app, team.id);
    });
  }

  test('so that the outcome of a commit is unknown, row and file both stay', async () => {
    const team = await addTeam(app);
    let isFirst = true;
    transactionFault = async (run) => {
      const result = await run();
      if (!isFirst) return result;
      isFirst = false;
      throw new ConnectionLostError(new Error('Connection terminated unexpectedly'));
    };
    const { status } = await post(team, smallBody());
    expect(status).toBe(503);
    await expectItems(app, team.id, 1);
  });

  test('completely, the sweep deletes the file a day later', async () => {
    const team = await addTeam(app);
    transactionFault = () => Promise.reject(new Error('connect ECONNREFUSED'));
    expect((await post(team, smallBody())).status).toBe(500);
    expect(await tracesOf(app, team.id)).toMatchObject({ rows: 0, objects: 1 });
    transactionFault = null;
    await sweepStorage(app.services);
    expect(await storedKeys(app, team.id)).toHaveLength(1);
    const tomorrow = new Date(Date.now() + DAY_MS + 1000);
    await sweepStorage({ ...app.services, clock: { now: () => tomorrow } });
    await expectNoTrace(app, team.id);
  });
});

describe('a file that is rejected after it was stored, while the store cannot delete', () => {
  const bodyWithLongName = () => [multipart(filePart({ bytes: makePdf() }), fieldPart('name', 'n'.repeat(300)))];

  test('gives the same answer, and the sweep deletes the file', async () => {
    const team = await addTeam(app);
    faults.remove = failUnavailable;
    const { status, body } = await post(team, bodyWithLongName());
    expect([status, body.error]).toEqual([400, 'name must have at most 255 characters']);
    expect(await storedKeys(app, team.id)).toHaveLength(1);
    delete faults.remove;
    const tomorrow = new Date(Date.now() + DAY_MS + 1000);
    await sweepStorage({ ...app.services, clock: { now: () => tomorrow } });
    await expectNoTrace(app, team.id);
  });

  test('passes an abort signal to the store', async () => {
    const team = await addTeam(app);
    const { promise, resolve } = Promise.withResolvers<AbortSignal | undefined>();
    faults.remove = (_key, { signal } = {}) => {
      resolve(signal);
      return Promise.reject(new StorageUnavailableError('Timed out', undefined));
    };
    await post(team, bodyWithLongName());
    expect(await promise).toBeInstanceOf(AbortSignal);
  });
});
