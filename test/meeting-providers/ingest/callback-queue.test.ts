/** Many callbacks of one workspace at once use few database connections and queue behind each other. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../src/db/client.ts';
import { concurrently, countStatuses } from '../../support/concurrently.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { genericEvent } from '../adapters/callbacks.ts';
import { addRoom, connect, type Room, type Source } from './connected-provider.ts';

let running = 0;
let max = 0;

/** Counts the transactions that run at the same time. */
function watchTransactions(db: Database): Database {
  return new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== '$transaction' || typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        running += 1;
        max = Math.max(max, running);
        try {
          return await value.apply(target, args);
        } finally {
          running -= 1;
        }
      };
    },
  });
}

let app: TestApp;
let team: Team;
let other: Team;
let room: Room;
let source: Source;
beforeAll(async () => {
  app = await startTestApp({ wrapDatabase: watchTransactions });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await addTeam(app);
  other = await addTeam(app);
  room = await addRoom(app, team);
  source = await connect(app, team, 'generic');
});

/** Locks the team's workspace, so that no callback can be applied until the returned function is called. */
async function holdWorkspace(): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const holding = app.services.db.$transaction(
    async (tx) => {
      await tx.$queryRaw`select 1 from workspaces where id = ${team.id} for no key update`;
      held.resolve();
      await released.promise;
    },
    { timeout: 25_000 },
  );
  await held.promise;
  return async () => {
    released.resolve();
    await holding;
  };
}

function joined(posting: Source, index: number) {
  return posting.post(genericEvent('participant.joined', { id: `participant-${index}` }, { room: room.name }));
}

function applied() {
  return app.services.db.ingestEvent.count({ where: { workspaceId: team.id, NOT: { appliedAt: null } } });
}

test('60 callbacks through two connections are applied four at a time, and other requests are served', async () => {
  const second = await connect(app, team, 'generic');
  const release = await holdWorkspace();
  max = 0;
  const posted = concurrently(60, (index) => joined(index % 2 ? second : source, index));
  await eventually(async () => running === 1 + 4);
  expect((await app.http.get(`${other.path}/labels`, other.owner.token)).status).toBe(200);
  expect(await applied()).toBe(0);
  await release();
  expect(countStatuses(await posted)).toEqual({ 200: 60 });
  expect(await applied()).toBe(60);
  // And the one that locked the workspace.
  expect(max).toBe(1 + 4);
});

test('callbacks beyond a queue of 100 get 503 with Retry-After, change nothing, and can be sent again', async () => {
  const release = await holdWorkspace();
  const refused: number[] = [];
  const posted = concurrently(110, async (index) => {
    const answer = await joined(source, index);
    if (answer.status === 503) {
      refused.push(index);
      expect(answer.body.message).toBe('Too many concurrent callbacks: try again in a moment');
      expect(answer.headers.get('retry-after')).toBe('5');
    }
    return answer;
  });
  await eventually(async () => refused.length === 6);
  const connected = await connect(app, other, 'generic');
  expect((await connected.post(genericEvent('participant.joined', {}, { room: room.name }))).status).toBe(200);
  await release();
  expect(countStatuses(await posted)).toEqual({ 200: 104, 503: 6 });
  expect(await applied()).toBe(104);
  for (const index of refused) expect((await joined(source, index)).status).toBe(200);
  expect(await applied()).toBe(110);
});

test('a callback without a valid signature is refused without queueing', async () => {
  const release = await holdWorkspace();
  const posted = concurrently(10, (index) => joined(source, index));
  await eventually(async () => running === 1 + 4);
  expect((await app.http.post(source.path, undefined, {})).status).toBe(401);
  await release();
  expect(countStatuses(await posted)).toEqual({ 200: 10 });
});
