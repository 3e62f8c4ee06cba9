/** A BEGIN that fails on its own: nothing is changed outside of a transaction. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { int, statement, text } from '../../src/db/statements.ts';
import { at, book, createPage } from '../bookings/pages.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const NINE = at('2026-06-16T09:00:00Z');
const BEGIN = Buffer.from('begin\0');
const MALFORMED = Buffer.from('begim\0');

const findNames = statement('test-find-names', {
  params: { name: text },
  returns: { id: int },
  sql: 'select id from labels where name = $name',
});
const addLabel = statement('test-add-label', {
  params: { workspaceId: int, name: text },
  sql: `
    insert into labels (workspace_id, name, color, created_at) values ($workspaceId, $name, '#000', now())`,
});

let proxy: TcpProxy;
let app: TestApp;
let team: Team;
let failing: number;
beforeAll(async () => {
  app = await startTestApp({
    frozenAt: new Date('2026-06-15T12:00:00Z'),
    connectVia: async (databaseUrl) => {
      proxy = await startTcpProxy(databaseUrl, spoilBegin);
      return proxy.url;
    },
  });
  team = await addTeam(app);
});
afterAll(async () => {
  await app.close();
  await proxy.close();
});
beforeEach(() => {
  failing = 0;
});

/** Makes the next `failing` statements BEGIN fail with a syntax error. Those after it arrive as they are. */
function spoilBegin(chunk: Buffer): Buffer {
  const index = failing > 0 ? chunk.indexOf(BEGIN) : -1;
  if (index < 0) return chunk;
  failing -= 1;
  return Buffer.concat([chunk.subarray(0, index), MALFORMED, chunk.subarray(index + BEGIN.length)]);
}

test('statements that follow the first are not sent', async () => {
  const { sql } = app.services.db;
  const addWithin = (name: string) =>
    sql.transact(async (tx) => {
      await tx.run(findNames, { name });
      await tx.run(addLabel, { workspaceId: team.id, name });
    });
  failing = 1;
  await expect(addWithin('Outside')).rejects.toThrow();
  expect(failing).toBe(0);
  expect(await sql.run(findNames, { name: 'Outside' })).toEqual([]);
  await addWithin('Inside');
  expect(await sql.run(findNames, { name: 'Inside' })).toHaveLength(1);
});

test('a booking, whose statements are all sent with BEGIN, adds nothing and is tried again', async () => {
  const { slug } = await createPage(app, team);
  const rooms = await app.services.db.room.count();
  failing = 1;
  expect((await book(app, slug, NINE)).status).toBe(200);
  expect(failing).toBe(0);
  expect([await app.services.db.room.count(), await app.services.db.booking.count()]).toEqual([rooms + 1, 1]);
});
