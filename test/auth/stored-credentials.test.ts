/** Nothing that lets its holder in is readable in the database, and so in a backup of it. */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { markOf, openInvite, sealInvites } from '../../src/auth/invite-token.ts';
import { createLinkToken, hashToken } from '../../src/auth/tokens.ts';
import { createPage } from '../bookings/pages.ts';
import { createWorld } from '../contract/scene.ts';
import { mailTo } from '../support/mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam } from '../support/world.ts';

/** Columns of text whose names say that they could hold a credential, and why each holds none that is readable. */
const NO_CREDENTIALS: Readonly<Record<string, string>> = {
  'users.password_hash': 'argon2id',
  'openid_requests.code_verifier': 'proves nothing without the code that the provider gives to the browser',
  'passkeys.credential_id': 'public: the authenticator signs',
  'idempotency_keys.key': 'what the caller chose; an answer also needs their credential or secret',
  'mail_messages.dedupe_key': 'names a message',
  'workspaces.invite_token': 'a mark, see sealInvites',
  'library_items.file_key': 'names an object; its URL is signed',
  'library_items.poster_key': 'names an object, which is read with a session or key',
  'uploads.file_key': 'names an object; its URL is signed',
  'uploads.finished_key': 'names an object; its URL is signed',
  'recordings.file_key': 'names an object; its URL is signed',
  'recordings.poster_key': 'names an object, which is read with a session or key',
  'trash_entries.file_key': 'names an object; its URL is signed',
  'trash_entries.poster_key': 'names an object, which is read with a session or key',
  'media_jobs.output_key': 'names an object; its URL is signed',
  'workspaces.logo_key': 'names an object that everybody may read',
  'discarded_objects.key': 'names an object; its URL is signed',
  'ingest_events.dedupe_key': 'names a callback',
  'api_keys.key_prefix': 'the first characters, by which people recognize a key',
  'api_keys.previous_key_prefix': 'the first characters, by which people recognize a key',
  'oauth_grants.code_challenge': 'the hash of the verifier, which the browser shows too',
  'rate_limits.key': 'what is counted',
  'meeting_connections.ingest_id': 'an address; callbacks must be signed',
};

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('every column of text that could hold a credential has a reason why it does not', () => {
  const schema = readFileSync(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8');
  const found = [...schema.matchAll(/^model \w+ \{\n(.*?)^\}/gms)].flatMap(([, body = '']) => {
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1];
    const fields = [...body.matchAll(/^ {2}(\w+) +String(?:\[\])?\??(?: +(.*))?$/gm)];
    return fields
      .map(([, field = '', rest = '']) => /@map\("(\w+)"\)/.exec(rest)?.[1] ?? field)
      .filter((name) => /token|secret|key|hash|code|invite|password|credential|ingest|verifier/.test(name))
      .map((name) => `${table}.${name}`);
  });
  expect(found.sort()).toEqual(Object.keys(NO_CREDENTIALS).sort());
});

/** The fields whose value lets its holder in, and all tokens and keys, wherever they are. */
const FIELD = /"(?:token|upload_token|full_key|secret|signing_secret|recovery_codes?|password)":"([^"]+)"/g;
const TOKEN = /\b(?:ln[a-z]_[\w-]{40,}|whsec_[\w+/=-]+)/g;
const LINK = /\/(?:join|invitation|book|calendar|reset-password|verify-email)\/?[#?/]?(?:token=)?([\w-]{32,})/g;

/** What the service has issued, by the text of its answers. */
function issuedIn(text: string): string[] {
  return [FIELD, TOKEN, LINK].flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] ?? match[0]));
}

/** All rows of all tables as text. Bytes are in hexadecimal digits. */
async function dumpAsText(): Promise<string> {
  const client = new pg.Client({ connectionString: app.superuserUrl });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      "select table_schema || '.' || quote_ident(table_name) as name from information_schema.tables " +
        "where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')",
    );
    const texts: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t`);
      texts.push(...rows.map(({ row }) => row));
    }
    return texts.join('\n');
  } finally {
    await client.end();
  }
}

test('of all tokens, keys and links that the service issues, the database contains none', async () => {
  const issued = new Set<string>();
  const { call } = app.http;
  const http = Object.fromEntries(
    Object.entries(app.http).map(([name, method]) => [
      name,
      async (...args: Parameters<typeof call>) => {
        // `as`: all methods return an answer, and each gets its own arguments.
        const answer = await (method as typeof call)(...args);
        for (const value of issuedIn(JSON.stringify(answer.body) ?? '')) issued.add(value);
        return answer;
      },
    ]),
  ) as unknown as TestApp['http'];
  const scene = await (await createWorld({ ...app, http })).addScene();
  const team = await addTeam({ ...app, http });
  const { path, owner } = team;
  await http.post(`${path}/invite`, owner.token);
  await http.post(`${path}/invitations`, owner.token, { email: 'invited@example.com', role: 'member' });
  await http.post('/api/auth/forgot-password', undefined, { email: owner.email });
  await http.post('/api/auth/calendar-feed', owner.token);
  const { secret } = (await http.post('/api/auth/second-factor', owner.token)).body;
  issued.add(secret);
  const { options } = (await http.post('/api/auth/passkeys/sign-in/options')).body;
  issued.add(options.challenge);
  const { room } = (await http.post('/api/dashboard/rooms', owner.token, { workspace_id: team.id })).body;
  const headers = { 'idempotency-key': 'join-once', 'idempotency-secret': 's'.repeat(43) };
  await http.call('POST', `/api/rooms/${room.name}/join`, { json: { name: 'Guest' }, headers });
  await http.post(`/api/rooms/${room.name}/join`, owner.token, {});
  const page = await createPage(app, team, { time_zone: 'UTC' });
  const { times } = (await http.get(`/api/book/${page.slug}`)).body;
  const guest = { name: 'Vera', email: 'vera@example.com', starts_at: times[0] };
  await http.post(`/api/book/${page.slug}`, undefined, guest);
  for (const to of ['invited@example.com', owner.email, guest.email])
    for (const { text } of await mailTo(app, to)) for (const value of issuedIn(text)) issued.add(value);
  const prefixes = ['lns_', 'lnp_', 'lnr_', 'lnb_', 'lnm_', 'lnc_', 'whsec_'];
  for (const prefix of prefixes)
    expect(
      [...issued].some((value) => value.startsWith(prefix)),
      prefix,
    ).toBe(true);
  await http.post(`/api/workspaces/${scene.workspaceId}/webhooks/${scene.webhookId}/rotate-secret`, scene.owner.token);
  expect(issued.size).toBeGreaterThan(20);
  const dumped = await dumpAsText();
  expect(dumped).toContain(scene.owner.email);
  const readable = [...issued].filter((value) =>
    [value, Buffer.from(value).toString('hex'), Buffer.from(value).toString('base64')].some((form) =>
      dumped.includes(form),
    ),
  );
  expect(readable).toEqual([]);
});

test('links of the earlier version are sealed at the start, and stay the same', async () => {
  const { db, sealer } = app.services;
  const teams = [await addTeam(app), await addTeam(app)] as const;
  const tokens = teams.map(() => createLinkToken());
  for (const [index, { id }] of teams.entries())
    await db.$executeRaw`update workspaces set invite_token = ${tokens[index]} where id = ${id}`;
  // They already work, since the trigger stores their hashes, and are shown, before they are sealed.
  expect((await app.http.post(`${teams[0].path}/invite`, teams[0].owner.token)).body.token).toBe(tokens[0]);
  await Promise.all([sealInvites(app.services), sealInvites(app.services)]);
  for (const [index, { id, path, owner, outsider }] of teams.entries()) {
    const token = tokens[index] ?? '';
    const row = await db.workspace.findUniqueOrThrow({ where: { id } });
    expect(row.inviteToken).toBe(markOf(id));
    expect(openInvite({ sealer }, id, { sealed: row.sealedInvite, plain: row.inviteToken })).toBe(token);
    expect((await app.http.post(`${path}/invite`, owner.token)).body.token).toBe(token);
    expect((await app.http.post(`/api/workspaces/join/${token}`, outsider.token)).status).toBe(200);
  }
  expect(await dumpAsText()).not.toContain(tokens[0]);
});

test('a process of the earlier version, which knows one column only, creates and revokes links', async () => {
  const { db } = app.services;
  const { id, path, owner, outsider } = await addTeam(app);
  const { token } = (await app.http.post(`${path}/invite`, owner.token)).body;
  const revoke = () =>
    db.$executeRaw`update workspaces set invite_token = null where id = ${id} and invite_token is not null`;
  expect(await revoke()).toBe(1);
  expect((await app.http.post(`/api/workspaces/join/${token}`, outsider.token)).status).toBe(404);
  const created = createLinkToken();
  await db.$executeRaw`update workspaces set invite_token = coalesce(invite_token, ${created}) where id = ${id}`;
  const row = await db.workspace.findUniqueOrThrow({ where: { id } });
  expect(Buffer.from(row.inviteHash ?? []).equals(hashToken(created))).toBe(true);
  expect((await app.http.post(`${path}/invite`, owner.token)).body.token).toBe(created);
  expect((await app.http.delete(`${path}/invite`, owner.token)).status).toBe(200);
  expect(await db.workspace.findUniqueOrThrow({ where: { id } })).toMatchObject({
    inviteHash: null,
    sealedInvite: null,
    inviteToken: null,
  });
});
