/**
 * What outlasts a session, and what ends it: the first proof that the address of an account is somebody's own, a reset
 * of the password, and the user.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashToken } from '../../src/auth/tokens.ts';
import { codeOf, fromBase32, stepAt } from '../../src/auth/totp.ts';
import { DAY_MS } from '../../src/core/time.ts';
import { auditOf } from '../support/audit.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { tokenFor } from '../support/mail.ts';
import { createBrowser, startProvider, type TestProvider } from '../support/openid-provider.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, PASSWORD, type Person } from '../support/world.ts';

const ORIGIN = 'https://app.example.com';
const NEW_PASSWORD = 'an entirely new password';

/**
 * Every table, with the rows that give somebody access to the account `$1` or to its workspaces `$2`, or the reason why
 * no row does.
 */
const tables: Readonly<Record<string, { rights: string } | { none: string }>> = {
  users: { rights: 'id = $1 and email_verified_at is null' },
  sessions: { rights: 'user_id = $1' },
  account_tokens: { rights: 'user_id = $1' },
  passkeys: { rights: 'user_id = $1' },
  openid_identities: { rights: "user_id = $1 and subject like 'stranger%'" },
  second_factors: { rights: 'user_id = $1' },
  recovery_codes: { rights: 'user_id = $1' },
  // A sign-in from a known device causes no notice.
  known_devices: { rights: "user_id = $1 and last_seen_at < now() - interval '1 day'" },
  calendar_feeds: { rights: 'user_id = $1' },
  members: { rights: 'workspace_id = any($2) and user_id <> $1' },
  api_keys: { rights: '(created_by = $1 or workspace_id = any($2)) and is_active' },
  webhooks: { rights: '(created_by = $1 or workspace_id = any($2)) and is_active' },
  meeting_connections: { rights: 'created_by = $1 or workspace_id = any($2)' },
  oauth_grants: { rights: 'user_id = $1' },
  invitations: { rights: "(invited_by = $1 or workspace_id = any($2)) and state = 'pending'" },
  workspaces: { rights: 'id = any($2) and invite_hash is not null' },
  // What has ended still says that its visits may not record.
  room_passes: { rights: '(created_by = $1 or workspace_id = any($2)) and (is_host or link_hash is not null)' },
  embed_tokens: { rights: 'created_by = $1 or workspace_id = any($2)' },

  removed_members: { none: 'who may not come back by the domain of their address' },
  openid_requests: { none: 'ten minutes, and those of a session end with it' },
  passkey_challenges: { none: 'five minutes, and those of a session end with it' },
  oauth_tokens: { none: 'of a connected app, and they end with it' },
  idempotency_keys: { none: 'an answer, which the same session or key gets again' },
  participants: { none: 'the presence in one meeting, without the rights of a host' },
  participant_connections: { none: 'of a participant, at the meeting provider' },
  meeting_pages: { none: 'of a participant, while they are in a meeting' },
  meeting_signals: { none: 'of a participant, for a minute' },
  livekit_egresses: { none: 'what a server of the operator records' },
  livekit_rooms: { none: 'what a server is told about a meeting, with a copy of the secret for a while' },
  recordings: { none: 'the upload of one recording, while it is being made' },
  uploads: { none: 'of the same session, key or upload token' },
  bookings: { none: 'of the guest, for this meeting' },
  mail_messages: { none: 'mail to the address of the account' },
  ...Object.fromEntries(
    [
      ...[
        'labels',
        'library_items',
        'item_labels',
        'rooms',
        'recording_deletions',
        'recording_copies',
        'media_jobs',
        'contacts',
        'trash_entries',
      ],
      ...['booking_pages', 'contact_events', 'counter_changes', 'contact_event_days', 'contact_event_subjects'],
      ...['contact_days', 'events', 'audit_log', 'audit_chains', 'account_events', 'webhook_messages'],
      ...['webhook_leases', 'webhook_deliveries', 'unmatched_callbacks', 'meeting_ends', 'ingest_events'],
    ].map((table) => [table, { none: 'content' }]),
  ),
  ...Object.fromEntries(
    [
      ...['oauth_clients', 'discarded_objects', 'object_store_id', 'created_store_ids', 'slug_suffixes', 'rate_limits'],
      ...['scheduled_tasks', 'account_history'],
    ].map((table) => [table, { none: 'of the service' }]),
  ),
};

let app: TestApp;
let provider: TestProvider;
beforeAll(async () => {
  provider = await startProvider('a');
  app = await startTestApp({
    settings: { appUrl: ORIGIN, trustedOrigins: [ORIGIN] },
    openidProviders: [provider.settings],
  });
  provider.open(app.url);
});
afterAll(async () => {
  await app.close();
  await provider.close();
});

async function post(path: string, token?: string, body: object = {}) {
  const answer = await app.http.post(path, token, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

async function personalOf(token: string): Promise<string> {
  const { workspaces } = (await app.http.get('/api/workspaces', token)).body;
  return `/api/workspaces/${workspaces[0].id}`;
}

let strangers = 0;

/** Adds a passkey, a linked provider, a calendar feed and the second factor to an account. */
async function secure(user: Person): Promise<void> {
  const authenticator = createAuthenticator(ORIGIN);
  const { options } = await post('/api/auth/passkeys/options', user.token);
  await post('/api/auth/passkeys', user.token, { name: 'Laptop', response: authenticator.create(options) });
  strangers += 1;
  const at = app.clock.now();
  const identity = {
    issuer: 'https://provider.example.com',
    subject: `stranger${strangers}`,
    createdAt: at,
    lastUsedAt: at,
  };
  await app.services.db.openidIdentity.create({ data: { userId: user.id, ...identity } });
  await post('/api/auth/calendar-feed', user.token);
  const { secret } = await post('/api/auth/second-factor', user.token);
  const code = codeOf(fromBase32(secret), stepAt(app.clock.now()));
  await post('/api/auth/second-factor/confirm', user.token, { code });
}

async function connectApp(path: string, { id: userId }: Person): Promise<void> {
  const [{ db }, createdAt] = [app.services, app.clock.now()];
  strangers += 1;
  const { id: clientId } = await db.oauthClient.create({
    data: { id: `app${strangers}`, name: 'Agent', redirectUris: ['https://agent.example.com/'], createdAt },
  });
  const code = { codeHash: hashToken(clientId), codeChallenge: 'x', codeExpiresAt: createdAt, redirectUri: 'x' };
  const expiresAt = new Date(createdAt.getTime() + DAY_MS);
  const grant = { clientId, scopes: ['read'], resource: `${app.url}/mcp`, createdAt, expiresAt, ...code };
  await db.oauthGrant.create({ data: { workspaceId: Number(path.split('/').at(-1)), userId, ...grant } });
}

/** Creates what gives access to a workspace. Returns a key of the user and one of the workspace. */
async function furnish(path: string, user: Person, owner = user) {
  const create = async (key: object) => (await post(`${path}/api-keys`, user.token, key)).apiKey.full_key;
  const keys = [await create({ name: 'Own' }), await create({ name: 'Shared', belongs_to: 'workspace' })];
  const webhook = { name: 'Copy', url: 'https://copy.example.com/', events: ['member.joined'] };
  await post(`${path}/webhooks`, user.token, webhook);
  await post(`${path}/connections`, owner.token, { name: 'Reports', provider: 'generic' });
  if (owner !== user)
    await app.services.db.meetingConnection.updateMany({
      where: { createdBy: owner.id },
      data: { createdBy: user.id },
    });
  await post(`${path}/invitations`, user.token, { email: `guest${user.id}@example.com`, role: 'admin' });
  await connectApp(path, user);
  const workspaceId = Number(path.split('/').at(-1));
  const { room } = (await app.http.post('/api/dashboard/rooms', user.token, { workspace_id: workspaceId })).body;
  await post(`${path}/rooms/${room.name}/participants`, user.token, { name: 'Visitor', is_host: 1 });
  await post(`${path}/embed-tokens`, user.token, { kind: 'library' });
  return keys;
}

async function reset({ email }: { email: string }, fields: object = {}) {
  await post('/api/auth/forgot-password', undefined, { email });
  const token = await tokenFor(app, email, 'reset-password');
  return post('/api/auth/reset-password', undefined, { token, password: NEW_PASSWORD, ...fields });
}

async function countRights(userId: number, workspaceIds: number[]): Promise<Record<string, number>> {
  const counted: [string, number][] = [];
  for (const [table, entry] of Object.entries(tables)) {
    if (!('rights' in entry)) continue;
    const condition = entry.rights.includes('$2') ? entry.rights : `${entry.rights} and $2::int[] is not null`;
    const sql = `select count(*)::int as count from ${table} where (${condition}) and $1::int is not null`;
    const [row] = await app.services.db.$queryRawUnsafe<{ count: number }[]>(sql, userId, workspaceIds);
    counted.push([table, row?.count ?? 0]);
  }
  return Object.fromEntries(counted);
}

test('every table gives a right that a first proof ends, or none', async () => {
  const rows = await app.services.db.$queryRaw<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> '_prisma_migrations'`;
  expect(Object.keys(tables).sort()).toEqual(rows.map(({ name }) => name).sort());
});

describe('the first proof of an address', () => {
  /** An account that a stranger registered, who has also let in another account of theirs. */
  async function squat() {
    const [account, friend] = [await addPerson(app, 'Squatter'), await addPerson(app, 'Friend')];
    await secure(account);
    const path = await personalOf(account.token);
    const { token: invite } = await post(`${path}/invite`, account.token);
    await post(`/api/workspaces/join/${invite}`, friend.token);
    await app.http.patch(`${path}/members/${friend.id}`, account.token, { role: 'admin' });
    const keys = [...(await furnish(path, account)), ...(await furnish(path, friend, account))];
    await post('/api/auth/change-email', account.token, { email: `elsewhere${account.id}@example.com` });
    await app.services.db.knownDevice.updateMany({ where: { userId: account.id }, data: { lastSeenAt: new Date(0) } });
    return { account, friend, path, keys, invite, workspaceId: Number(path.split('/').at(-1)) };
  }

  async function signInAtProvider(email: string) {
    provider.signingIn.person = { sub: `owner of ${email}`, email, email_verified: true, name: 'Owner' };
    provider.people.set(provider.signingIn.person.sub, provider.signingIn.person);
    const browser = createBrowser();
    const { url } = (await browser.post(`${app.url}/api/auth/openid/start`, { provider: 'a' })).body;
    return browser.post(`${app.url}/api/auth/openid/complete`, await browser.open(url));
  }

  const proofs = {
    'by a reset of the password': async ({ email }: Person) => {
      await reset({ email }, { keep_access: true });
      return (await post('/api/auth/login', undefined, { email, password: NEW_PASSWORD })).token;
    },
    'at a provider': async ({ email, id }: Person) => {
      const { status, body } = await signInAtProvider(email);
      expect([status, body.user?.id]).toEqual([200, id]);
      return body.token;
    },
  };

  test.each(Object.entries(proofs))('%s ends everything that was made before', async (_title, prove) => {
    const { account, friend, path, keys, invite, workspaceId } = await squat();
    const before = await countRights(account.id, [workspaceId]);
    expect(Object.entries(before).filter(([, count]) => count === 0)).toEqual([]);
    const token = await prove(account);
    const after = await countRights(account.id, [workspaceId]);
    expect(Object.entries(after).filter(([table, count]) => count > 0 && table !== 'sessions')).toEqual([]);
    expect(after.sessions).toBe(1);
    expect((await app.http.get('/api/auth/me', token)).body.user).toMatchObject({
      id: account.id,
      email_verified: true,
    });
    const paths = [path, `${path}/rooms`, `${path}/webhooks`];
    for (const credential of [account.token, ...keys])
      expect((await app.http.get(`${path}/rooms`, credential)).status).toBe(401);
    for (const one of paths) expect((await app.http.get(one, friend.token)).status).toBe(403);
    expect((await app.http.post(`/api/workspaces/join/${invite}`, friend.token)).status).toBe(404);
    const login = { email: account.email, password: PASSWORD };
    expect((await app.http.post('/api/auth/login', undefined, login)).status).toBe(401);
  });

  test.each(Object.entries(proofs))(
    '%s ends nothing once the user has confirmed the address',
    async (_title, prove) => {
      const { account, friend, path } = await squat();
      const link = { token: await tokenFor(app, account.email, 'verify-email') };
      await post('/api/auth/verify-email', account.token, link);
      expect((await app.http.get('/api/auth/me', account.token)).status).toBe(200);
      await app.services.db.secondFactor.deleteMany({ where: { userId: account.id } });
      await prove(account);
      expect((await app.http.get(`${path}/rooms`, friend.token)).status).toBe(200);
    },
  );
});

/** A person with a confirmed address who has created all there is, in Personal and in a team where they are admin. */
async function addFurnished() {
  const team = await addTeam(app);
  const { admin: user, owner } = team;
  await post('/api/auth/verify-email', user.token, { token: await tokenFor(app, user.email, 'verify-email') });
  await secure(user);
  const personal = await personalOf(user.token);
  const keys = [...(await furnish(personal, user)), ...(await furnish(team.path, user, owner))];
  await post(`${personal}/invite`, user.token);
  const [, , ofTeam, sharedKey = ''] = keys;
  return { team, user, personal, keys: keys.filter((key) => key !== sharedKey), ofTeam, sharedKey };
}

type Listed = { kind: string; workspace_name: string | null; name: string | null; ends_on_reset: boolean };

function summarize(access: readonly Listed[], endsOnReset?: boolean): string[] {
  return access
    .filter(({ ends_on_reset }) => endsOnReset === undefined || ends_on_reset === endsOnReset)
    .map(({ kind, workspace_name }) => (workspace_name === null ? kind : `${kind} in ${workspace_name}`))
    .sort();
}

const own = [
  ...['calendar_feed', 'passkey', 'identity', 'api_key in Team', 'invitation in Team', 'invite_link in Team'],
  ...['api_key in Personal', 'api_key in Personal', 'connection in Personal', 'invitation in Personal'],
  ...['invite_link in Personal', 'webhook in Personal', 'app in Personal', 'app in Team'],
].sort();
/** How many of them are connected apps. */
const apps = 2;
const shared = ['api_key in Team', 'connection in Team', 'webhook in Team'];

describe('lasting access', () => {
  test('is listed at a change of the password, which ends only connected apps', async () => {
    const { user, keys, personal } = await addFurnished();
    const change = { password: NEW_PASSWORD, current_password: PASSWORD };
    const { status, body } = await app.http.patch('/api/auth/me', user.token, change);
    expect([status, body.user.id, body.total]).toEqual([200, user.id, own.length - apps + shared.length]);
    const left = own.filter((entry) => !entry.startsWith('app in '));
    expect([summarize(body.access, true), summarize(body.access, false)]).toEqual([left, shared]);
    const { user: _user, ...listed } = body;
    expect((await app.http.get('/api/auth/access', user.token)).body).toEqual(listed);
    expect((await app.http.get(`${personal}/rooms`, keys[0])).status).toBe(200);
    expect((await app.http.patch('/api/auth/me', user.token, { name: 'Renamed' })).body).not.toHaveProperty('access');
  });

  test.each(['by a reset of the password', 'by the user'])(
    'ends %s, except for what other members of a workspace use',
    async (how) => {
      const { team, user, personal, keys, sharedKey } = await addFurnished();
      const ended = { ended: own.length, remaining: shared.length };
      if (how === 'by the user') expect((await app.http.delete('/api/auth/access', user.token)).body).toEqual(ended);
      else expect(await reset(user)).toEqual({ ok: true, ...ended });
      for (const key of keys) expect((await app.http.get('/api/workspaces', key)).status).toBe(401);
      expect((await app.http.get(`${team.path}/rooms`, sharedKey)).status).toBe(200);
      const rights = await countRights(user.id, [Number(personal.split('/').at(-1))]);
      expect(Object.entries(rights).filter(([, count]) => count > 0)).toEqual([
        ...(how === 'by the user' ? [['sessions', 1]] : []),
        ['second_factors', 1],
        ['recovery_codes', 10],
        ['api_keys', 1],
        ['webhooks', 1],
        ['meeting_connections', 1],
      ]);
      const actions = (await auditOf(app, team.id)).map(({ action, actor: [kind] }) => `${action} by ${kind}`);
      const by = how === 'by the user' ? 'user' : 'system';
      for (const action of ['api_key.revoked', 'invite_link.revoked', 'invitation.revoked'])
        expect(actions).toContain(`${action} by ${by}`);
      expect(actions.filter((action) => /^(?:webhook|connection)\.(?!created)/.test(action))).toEqual([]);
    },
  );

  test('remains after a reset of the password if the user wants to keep it, except connected apps', async () => {
    const { user, keys, personal } = await addFurnished();
    expect(await reset(user, { keep_access: true })).toEqual({
      ok: true,
      ended: apps,
      remaining: own.length - apps + shared.length,
    });
    expect((await app.http.get(`${personal}/rooms`, keys[0])).status).toBe(200);
  });

  test('does not end by the user if they could then no longer sign in', async () => {
    const user = await addPerson(app);
    await secure(user);
    await app.services.db.user.update({ where: { id: user.id }, data: { passwordHash: null } });
    const { status, body } = await app.http.delete('/api/auth/access', user.token);
    expect([status, body.message]).toEqual([
      409,
      'This is the last sign-in method of the account: add another one first',
    ]);
    expect(await app.services.db.calendarFeed.count({ where: { userId: user.id } })).toBe(1);
  });

  test.each([
    ['webhooks', { name: 'Late', url: 'https://late.example.com/', events: ['member.joined'] }],
    ['connections', { name: 'Late', provider: 'generic' }],
    ['api-keys', { name: 'Late' }],
    ['invitations', { email: 'late@example.com', role: 'admin' }],
    ['invite', {}],
  ])('is not created by a call to %s that waits while its session ends', async (path, input) => {
    const { token } = await addPerson(app);
    const personal = await personalOf(token);
    const { status } = await changeWhileBlocked(
      app,
      `select id from workspaces where id = ${personal.split('/').at(-1)} for no key update`,
      () => app.http.post(`${personal}/${path}`, token, input),
      (client) =>
        client.query('delete from sessions where user_id = (select owner_id from workspaces where id = $1)', [
          Number(personal.split('/').at(-1)),
        ]),
    );
    expect(status).toBe(401);
  });
});
