/** Reading, exporting, verifying and erasing the audit log, over HTTP. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordAudits } from '../../src/audit/record-audit.ts';
import { exampleEntry, numberAll } from '../support/audit.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, PASSWORD, type Person, type Team } from '../support/world.ts';

type Listed = { action: string; sequence: number | null; created_at: number };

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

async function list(query = '', { path, admin } = team): Promise<Listed[]> {
  const { status, body } = await app.http.get(`${path}/audit?limit=100&${query}`, admin.token);
  expect([status, body.message]).toEqual([200, undefined]);
  return body.entries;
}

const actionsOf = (entries: Listed[]) => entries.map(({ action }) => action);

test('an entry says who did what, on what, from where and when, through both transports', async () => {
  await app.http.patch(team.path, team.owner.token, { name: 'Renamed' });
  const [entry] = await list();
  const expected = {
    id: expect.any(Number),
    sequence: null,
    created_at: Math.floor(app.clock.now().getTime() / 1000),
    actor: {
      kind: 'user',
      user_id: team.owner.id,
      key_id: null,
      participant_id: null,
      name: team.owner.name,
      address: '127.0.0.1',
      via: null,
    },
    action: 'workspace.renamed',
    target: { kind: 'workspace', id: team.id, name: null },
    before: { name: 'Team' },
    after: { name: 'Renamed' },
    is_erased: 0,
    hash: null,
  };
  expect(entry).toEqual({ ...expected, created_at: expect.closeTo(expected.created_at, -2) });
  await numberAll(app);
  const { entries } = await team.admin.client.audit.list.query({ id: team.id, limit: 1 });
  expect(entries).toEqual([
    {
      ...expected,
      created_at: entry?.created_at,
      sequence: expect.any(Number),
      hash: expect.stringMatching(/^\w{64}$/),
    },
  ]);
});

test('the log can be filtered by who, what, on what and when', async () => {
  const { apiKey } = (await app.http.post(`${team.path}/api-keys`, team.owner.token, { name: 'Bot' })).body;
  const { label } = (await app.http.post(`${team.path}/labels`, team.owner.token, { name: 'Old' })).body;
  app.clock.advance(10_000);
  await app.http.delete(`${team.path}/labels/${label.id}`, apiKey.full_key);
  const at = Math.floor(app.clock.now().getTime() / 1000);
  expect(actionsOf(await list('actor_kind=key'))).toEqual(['label.deleted']);
  expect(actionsOf(await list(`actor_key_id=${apiKey.id}`))).toEqual(['label.deleted']);
  expect(actionsOf(await list(`actor_key_id=${apiKey.id + 1}`))).toEqual([]);
  expect(actionsOf(await list(`actor_user_id=${team.member.id}`))).toEqual(['member.joined']);
  expect(actionsOf(await list(`target_kind=label&target_id=${label.id}`))).toEqual(['label.deleted']);
  expect(actionsOf(await list('action=member.role_changed'))).toEqual(['member.role_changed']);
  expect(actionsOf(await list(`from=${at - 5}`))).toEqual(['label.deleted']);
  const before = await list(`to=${at - 5}`);
  expect(before.length).toBeGreaterThan(3);
  expect(actionsOf(before)).not.toContain('label.deleted');
});

describe('exports', () => {
  test('have every entry, oldest first, and are recorded', async () => {
    const entries = (await list()).reverse();
    const lines = await app.http.get(`${team.path}/audit.jsonl`, team.admin.token);
    expect(lines.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(lines.headers.get('content-disposition')).toContain('audit-log.jsonl');
    const read: Listed[] = String(lines.body)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(read.slice(0, -1)).toEqual(entries);
    expect(read.at(-1)).toMatchObject({ action: 'audit_log.exported', after: { format: 'jsonl' } });

    const csv = await app.http.get(`${team.path}/audit.csv`, team.admin.token);
    const [header = '', first = '', ...rest] = String(csv.body).trim().split('\r\n');
    expect(header).toMatch(/^sequence,id,created_at,actor_kind,.*,before,after,is_erased,hash$/);
    expect(first).toContain(`user,${team.owner.id},,${team.owner.name},127.0.0.1,invite_link.created`);
    expect(rest).toHaveLength(read.length);
  });

  test('have all entries of a long log', async () => {
    const long = await addTeam(app, 'Long');
    const entries = Array.from({ length: 1_500 }, () => exampleEntry(app, long.id, long.owner));
    await recordAudits(app.services.db.sql, entries);
    const { body } = await app.http.get(`${long.path}/audit.jsonl`, long.owner.token);
    expect(String(body).trim().split('\n').length).toBeGreaterThan(1_500);
  });

  test('have the entries that match the filters of the list, and record these', async () => {
    await app.http.patch(team.path, team.owner.token, { name: 'Filtered' });
    const filters = `action=workspace.renamed&actor_user_id=${team.owner.id}&from=&other=x`;
    const listed = await list(filters);
    expect(listed.length).toBeGreaterThan(0);
    const lines = await app.http.get(`${team.path}/audit.jsonl?${filters}`, team.admin.token);
    const exported = String(lines.body).trim().split('\n');
    expect(exported.map((line) => JSON.parse(line))).toEqual(listed.toReversed());
    const csv = await app.http.get(`${team.path}/audit.csv?${filters}`, team.admin.token);
    expect(String(csv.body).trim().split('\r\n')).toHaveLength(listed.length + 1);
    const { entries } = await team.admin.client.audit.list.query({ id: team.id, action: 'audit_log.exported' });
    const recorded = { action: 'workspace.renamed', actor_user_id: team.owner.id };
    expect(entries.slice(0, 2).map(({ after }) => after)).toEqual([
      { format: 'csv', ...recorded },
      { format: 'jsonl', ...recorded },
    ]);
    const nothing = await app.http.get(`${team.path}/audit.csv?to=1`, team.admin.token);
    expect(String(nothing.body)).toMatch(/^sequence,.*hash\r\n$/);
  });

  test('keep a formula in a name from a spreadsheet', async () => {
    const { label } = (await app.http.post(`${team.path}/labels`, team.owner.token, { name: '=1+1' })).body;
    await app.http.delete(`${team.path}/labels/${label.id}`, team.owner.token);
    const { body } = await app.http.get(`${team.path}/audit.csv`, team.admin.token);
    expect(body).toContain(",'=1+1,");
  });
});

describe('verification', () => {
  test('checks a log in parts, and continues behind an earlier position', async () => {
    const long = await addTeam(app, 'Verified');
    const entries = Array.from({ length: 11_000 }, () => exampleEntry(app, long.id, long.owner));
    await recordAudits(app.services.db.sql, entries);
    await numberAll(app);
    const verify = async (after = '') =>
      (await app.http.get(`${long.path}/audit/verify${after && `?after=${after}`}`, long.admin.token)).body;
    const first = await verify();
    expect(first).toMatchObject({ is_valid: 1, is_complete: 0, first_sequence: 1, checked_sequence: 10_000 });
    const second = await verify(first.position);
    expect(second).toMatchObject({ is_valid: 1, is_complete: 1, first_sequence: 10_001, problems: [] });
    expect(second.checked_sequence).toBe(second.last_sequence);
    const { audit } = long.admin.client;
    expect(await audit.verify.query({ id: long.id, after: second.position })).toMatchObject({
      is_valid: 1,
      is_complete: 1,
      first_sequence: second.last_sequence + 1,
    });
    const other = await app.http.get(`${team.path}/audit/verify?after=${first.position}`, team.admin.token);
    expect([other.status, other.body.issues[0].path]).toEqual([400, 'after']);
  });

  test('shows what was changed in the database', async () => {
    const client = new pg.Client({ connectionString: app.superuserUrl });
    await client.connect();
    await client.query('set session_replication_role = replica');
    await client.query("update audit_log set action = 'member.left' where workspace_id = $1 and sequence = 2", [
      team.id,
    ]);
    await client.end();
    const { body } = await app.http.get(`${team.path}/audit/verify`, team.admin.token);
    expect(body).toMatchObject({ is_valid: 0, problems: [{ sequence: 2, problem: 'changed' }] });
  });
});

describe('erasing a person', () => {
  async function addMember(name: string, to: Team): Promise<Person> {
    const person = await addPerson(app, name);
    const { token } = await to.owner.client.workspaces.invite.mutate({ id: to.id });
    await person.client.workspaces.join.mutate({ token });
    await app.http.patch(`${to.path}/members/${person.id}`, to.owner.token, { role: 'admin' });
    await app.http.get(`${to.path}/contacts.csv`, person.token);
    return person;
  }

  test('removes their name and addresses, keeps what they did, and is recorded', async () => {
    const own = await addTeam(app, 'Own');
    const zoe = await addMember('Zoe', own);
    await numberAll(app);
    const { status, body } = await app.http.post(`${own.path}/audit/erase`, own.owner.token, { user_id: zoe.id });
    expect([status, body]).toEqual([200, { erased: 3 }]);
    const entries = await list('', own);
    expect(JSON.stringify(entries)).not.toContain('Zoe');
    expect(entries[0]).toMatchObject({
      action: 'audit_log.erased',
      actor: { user_id: own.owner.id, name: own.owner.name },
      after: { user_id: zoe.id, entries: 3 },
    });
    expect(entries.find(({ action }) => action === 'contact.exported')).toMatchObject({
      actor: { user_id: zoe.id, name: null, address: null },
      is_erased: 1,
    });
    await numberAll(app);
    const verified = await app.http.get(`${own.path}/audit/verify`, own.owner.token);
    expect(verified.body).toMatchObject({ is_valid: 1, is_complete: 1 });
    expect(await own.owner.client.audit.erase.mutate({ id: own.id, user_id: zoe.id })).toEqual({ erased: 0 });
  });

  test('happens in every log when they delete their account', async () => {
    const [one, two] = [await addTeam(app, 'One'), await addTeam(app, 'Two')];
    const yan = await addMember('Yan', one);
    const { token } = await two.owner.client.workspaces.invite.mutate({ id: two.id });
    await yan.client.workspaces.join.mutate({ token });
    await numberAll(app);
    expect(
      (await app.http.call('DELETE', '/api/auth/me', { token: yan.token, json: { password: PASSWORD } })).status,
    ).toBe(200);
    for (const workspace of [one, two]) {
      const entries = await list('', workspace);
      expect(JSON.stringify(entries)).not.toContain('Yan');
      expect(entries[0]).toMatchObject({ action: 'member.left', after: null, target: { id: yan.id, name: null } });
      await numberAll(app);
      const { body } = await app.http.get(`${workspace.path}/audit/verify`, workspace.admin.token);
      expect(body).toMatchObject({ is_valid: 1, is_complete: 1 });
    }
  });
});
