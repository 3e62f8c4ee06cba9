/** A call whose transaction has changed nothing has not been carried out, and leaves the key free if it then fails. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/client.ts';
import { LEASE_MS } from '../../src/db/idempotency-keys.ts';
import type { SqlDatabase } from '../../src/db/sql.ts';
import { addRoom, addWaitingRoom } from '../participants/rooms.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { mutate, newKey, type Outcome, send } from './idempotent.ts';

type Fault = (values: object, runs: number) => void;

let app: TestApp;
let team: Team;
/** What to do before the statement of this name: change its parameters, or throw. */
let faults: Record<string, Fault> = {};

beforeAll(async () => {
  app = await startTestApp({ wrapDatabase: withFaults, database: { statementTimeoutMs: 2_000 } });
  team = await addTeam(app);
});
afterEach(() => {
  faults = {};
});
afterAll(() => app.close());

function withFaults(db: Database): Database {
  const { sql } = db;
  const runs: Record<string, number> = {};
  const faulty: SqlDatabase = {
    ...sql,
    async run(statement, params) {
      const { name } = statement;
      runs[name] = faults[name] ? (runs[name] ?? 0) + 1 : 0;
      const values = Object.assign({}, params);
      faults[name]?.(values, runs[name]);
      return sql.run(statement, values);
    },
  };
  return Object.assign(db, { sql: faulty });
}

function fail(): never {
  throw new Error('The database has failed');
}

type Send = (operation: 'join' | 'create', key: string, json: Record<string, unknown>) => Promise<Outcome>;

function sendAs(token: string | undefined, transport: string): Send {
  return (operation, key, json) => {
    if (transport === 'tRPC')
      return mutate(app, operation === 'join' ? 'participants.join' : 'rooms.create', { key, token, json });
    const { roomName, ...rest } = json;
    const path = operation === 'join' ? `/api/rooms/${roomName}/join` : '/api/dashboard/rooms';
    return send(app, path, { key, token, json: rest });
  };
}

test.each(['REST', 'tRPC'])('a participant who became a host enters after a busy database (%s)', async (transport) => {
  const { id, path, owner, outsider: guest } = await addTeam(app);
  const room = await addWaitingRoom(app, { ...team, id, path }, owner);
  const key = newKey();
  const call = sendAs(guest.token, transport);
  const json = { roomName: room.name };
  expect((await call('join', newKey(), json)).body.participant.status).toBe('waiting');
  const { token } = await owner.client.workspaces.invite.mutate({ id });
  await guest.client.workspaces.join.mutate({ token });
  await app.http.patch(`${path}/members/${guest.id}`, owner.token, { role: 'admin' });
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('select from workspaces where id = $1 for update', [id]);
    expect((await call('join', key, json)).status).toBe(503);
  } finally {
    await client.end();
  }
  const entered = await call('join', key, json);
  expect(entered).toMatchObject({ status: 200, isReplayed: false, body: { participant: { status: 'joined' } } });
  expect(await call('join', key, json)).toEqual({ ...entered, isReplayed: true });
});

test.each(['REST', 'tRPC'])('a guest can join if the second try failed (%s)', async (transport) => {
  const room = await addRoom(app, team, team.owner);
  const key = newKey();
  const email = `${key}@example.com`;
  const join = () => sendAs(undefined, transport)('join', key, { roomName: room.name, name: 'Gina', email });
  faults['join-room'] = (_, runs) => runs > 1 && fail();
  const first = await changeWhileBlocked(
    app,
    `insert into contacts (workspace_id, name, email, created_at) values (${team.id}, 'Gina', '${email}', now())`,
    join,
  );
  expect(first.status).toBe(500);
  faults = {};
  expect(await join()).toMatchObject({ status: 200, isReplayed: false });
  expect(await app.services.db.participant.count({ where: { roomId: room.id } })).toBe(1);
});

test.each(['REST', 'tRPC'])('a room is created if the first names were taken and the rest failed (%s)', async (on) => {
  const { name } = await addRoom(app, team, team.owner);
  const key = newKey();
  const create = () => sendAs(team.admin.token, on)('create', key, { workspace_id: team.id });
  faults['create-room'] = (values, runs) => (runs > 1 ? fail() : Object.assign(values, { roomName: name }));
  expect((await create()).status).toBe(500);
  faults = {};
  const before = await app.services.db.room.count();
  expect((await create()).body.room.workspace_id).toBe(team.id);
  expect(await app.services.db.room.count()).toBe(before + 1);
});

test.each(['rooms', 'labels', 'contacts'])(
  'if the process ends, a refusal of %s is not a lost answer',
  async (what) => {
    const token = team.admin.token;
    const [path, json] = {
      rooms: ['/api/dashboard/rooms', { name: 'taken-name', workspace_id: team.id }],
      labels: [`${team.path}/labels`, { name: 'Taken' }],
      contacts: [`${team.path}/contacts`, { name: 'Taken', email: 'taken@example.com' }],
    }[what] as [string, Record<string, unknown>];
    await send(app, path, { token, json });
    const key = newKey();
    faults = { 'store-idempotent-answer': fail, 'free-idempotency-key': fail };
    const { code } = (await send(app, path, { key, token, json })).body;
    expect(code).toBe('CONFLICT');
    faults = {};
    app.clock.advance(LEASE_MS);
    expect(await send(app, path, { key, token, json })).toMatchObject({
      status: 409,
      body: { code },
      isReplayed: false,
    });
  },
);
