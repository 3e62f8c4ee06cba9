/** Joining by the domain of one's own confirmed address: who may, what switches it off, and races. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditOf } from '../support/audit.ts';
import { eventsOf } from '../support/events.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { tokenFor } from '../support/mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Person, type Team } from '../support/world.ts';

const DOMAIN = 'acme.example';
/** People who are in the workspaces of no other test. */
let people = 0;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const notFound = { status: 404, body: { message: 'Workspace not found' } };

function setAddress({ id }: Person, email: string, isConfirmed = true) {
  const emailVerifiedAt = isConfirmed ? app.clock.now() : null;
  return app.services.db.user.update({ where: { id }, data: { email, emailVerifiedAt } });
}

async function addPersonAt(domain: string, isConfirmed = true): Promise<Person> {
  const person = await addPerson(app);
  people += 1;
  await setAddress(person, `person${people}@${domain}`, isConfirmed);
  return person;
}

function set({ path, owner }: Team, domain: string | null, token = owner.token) {
  return app.http.patch(`${path}/join-domain`, token, { domain });
}

function join({ path }: Pick<Team, 'path'>, { token }: Person) {
  return app.http.post(`${path}/join`, token);
}

async function joinable({ token }: Person): Promise<number[]> {
  const { status, body } = await app.http.get('/api/workspaces/joinable', token);
  expect(status).toBe(200);
  return body.workspaces.map(({ id }: { id: number }) => id);
}

/** A team that people with an address of the domain may join. */
async function addOpenTeam(domain = DOMAIN, name = 'Team'): Promise<Team> {
  const team = await addTeam(app, name);
  people += 1;
  await setAddress(team.owner, `owner${people}@${domain}`);
  expect(await set(team, domain)).toMatchObject({ status: 200 });
  return team;
}

test('it is off by default, and then nobody joins or learns of the workspace', async () => {
  const team = await addTeam(app);
  people += 1;
  await setAddress(team.owner, `owner${people}@${DOMAIN}`);
  expect((await app.http.get(`${team.path}/join-domain`, team.admin.token)).body).toEqual({
    domain: null,
    possible_domain: DOMAIN,
    in_effect: 0,
  });
  const colleague = await addPersonAt(DOMAIN);
  expect(await joinable(colleague)).not.toContain(team.id);
  expect(await join(team, colleague)).toMatchObject(notFound);
});

test('a person with a confirmed address of the domain sees the workspace, and joins it as a member', async () => {
  const team = await addOpenTeam('sees.example', 'Seen');
  const colleague = await addPersonAt('sees.example');
  expect((await app.http.get('/api/workspaces/joinable', colleague.token)).body).toEqual({
    workspaces: [{ id: team.id, name: 'Seen', owner_name: team.owner.name }],
  });
  expect(await join(team, colleague)).toMatchObject({
    status: 200,
    body: { workspace: { id: team.id, name: 'Seen', role: 'member' } },
  });
  expect((await app.http.get(team.path, colleague.token)).status).toBe(200);
  expect(await joinable(colleague)).toEqual([]);
  const events = await eventsOf(app, team.id, 'member.joined');
  expect(events.at(-1)).toMatchObject({ data: { user_id: colleague.id, role: 'member' } });
  expect((await auditOf(app, team.id)).at(-1)).toMatchObject({
    actor: ['user', colleague.id, null],
    action: 'member.joined',
    target: ['member', colleague.id],
    details: { after: { role: 'member', by: 'domain' } },
  });
});

test('without the right address the workspace does not exist', async () => {
  const team = await addOpenTeam();
  const others = await Promise.all([
    addPersonAt('other.example'),
    addPersonAt(`sub.${DOMAIN}`),
    addPersonAt(`not${DOMAIN}`),
    addPersonAt(DOMAIN, false),
  ]);
  for (const person of others) {
    expect(await joinable(person)).not.toContain(team.id);
    expect(await join(team, person)).toMatchObject(notFound);
    expect(await join({ path: '/api/workspaces/2147483647' }, person)).toMatchObject(notFound);
  }
  expect((await app.http.post(`${team.path}/join`)).status).toBe(401);
});

test('the domain must be that of the confirmed address of the owner', async () => {
  const team = await addTeam(app);
  await setAddress(team.owner, 'olive@set.example', false);
  const refusal = async (domain: string) => {
    const { status, body } = await set(team, domain);
    return [status, body.issues?.[0]?.path, body.message];
  };
  expect(await refusal('set.example')).toEqual([400, 'domain', expect.stringContaining('confirm it first')]);
  await setAddress(team.owner, 'olive@set.example');
  for (const domain of ['other.example', 'example', 'sub.set.example', ''])
    expect(await refusal(domain)).toEqual([
      400,
      'domain',
      'domain must be the domain of your own confirmed address: set.example',
    ]);
  for (const domain of ['gmail.com', 'yahoo.co.uk', 'me.fastmail.com']) {
    await setAddress(team.owner, `olive@${domain}`);
    expect(await refusal(domain)).toEqual([400, 'domain', expect.stringContaining('public mail provider')]);
  }
  await setAddress(team.owner, 'olive@set.example');
  expect(await set(team, ' SET.example ')).toMatchObject({
    status: 200,
    body: { domain: 'set.example', possible_domain: 'set.example', in_effect: 1 },
  });
  expect((await set(team, 'set.example', team.admin.token)).status).toBe(403);
  const { workspaces } = await team.owner.client.workspaces.list.query();
  const personal = workspaces.find(({ is_personal }) => is_personal === 1);
  expect(
    await app.http.patch(`/api/workspaces/${personal?.id}/join-domain`, team.owner.token, { domain: null }),
  ).toEqual(expect.objectContaining({ status: 400 }));
});

test('a change of the setting is in the audit log once', async () => {
  const team = await addOpenTeam();
  await set(team, DOMAIN);
  await set(team, null);
  const entries = (await auditOf(app, team.id)).filter(({ action }) => action === 'workspace.join_domain_changed');
  expect(entries.map(({ actor, details }) => [actor, details])).toEqual([
    [['user', team.owner.id, null], { name: 'Team', before: { join_domain: null }, after: { join_domain: DOMAIN } }],
    [['user', team.owner.id, null], { name: 'Team', before: { join_domain: DOMAIN }, after: { join_domain: null } }],
  ]);
});

test('it ends when the owner has another address or it is not confirmed, and with another owner', async () => {
  const team = await addOpenTeam('moved.example');
  const colleague = await addPersonAt('moved.example');
  const expectClosed = async () => {
    expect(await joinable(colleague)).toEqual([]);
    expect(await join(team, colleague)).toMatchObject(notFound);
    expect((await app.http.get(`${team.path}/join-domain`, team.admin.token)).body).toMatchObject({ in_effect: 0 });
  };
  await setAddress(team.owner, 'olive@elsewhere.example');
  await expectClosed();
  await setAddress(team.owner, 'olive@moved.example', false);
  await expectClosed();
  await setAddress(team.owner, 'olive@moved.example');
  expect(await joinable(colleague)).toEqual([team.id]);
  await app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role: 'owner' });
  await expectClosed();
  await setAddress(team.admin, 'adam@moved.example');
  expect((await join(team, colleague)).status).toBe(200);
});

test('a person whom another member has removed needs an invitation, and one who left does not', async () => {
  const team = await addOpenTeam('back.example');
  const [removed, leaver] = await Promise.all([addPersonAt('back.example'), addPersonAt('back.example')]);
  for (const person of [removed, leaver]) expect((await join(team, person)).status).toBe(200);
  await app.http.delete(`${team.path}/members/${removed.id}`, team.admin.token);
  await app.http.delete(`${team.path}/members/${leaver.id}`, leaver.token);
  expect(await joinable(removed)).toEqual([]);
  expect(await join(team, removed)).toMatchObject(notFound);
  expect(await joinable(leaver)).toEqual([team.id]);
  expect((await join(team, leaver)).status).toBe(200);
  const { token } = await team.owner.client.workspaces.invite.mutate({ id: team.id });
  expect((await app.http.post(`/api/workspaces/join/${token}`, removed.token)).status).toBe(200);
});

test('who was removed does not come back with another account of the same address, until it is invited', async () => {
  const team = await addOpenTeam('again.example');
  const address = 'again@again.example';
  const addAccount = async () => {
    const person = await addPerson(app);
    await setAddress(person, address);
    return person;
  };
  const first = await addAccount();
  expect((await join(team, first)).status).toBe(200);
  await app.http.delete(`${team.path}/members/${first.id}`, team.admin.token);
  // Neither with another address of the account.
  await setAddress(first, 'other@again.example');
  expect(await join(team, first)).toMatchObject(notFound);
  expect((await app.http.call('DELETE', '/api/auth/me', { token: first.token })).status).toBe(200);
  const second = await addAccount();
  expect(await joinable(second)).toEqual([]);
  expect(await join(team, second)).toMatchObject(notFound);
  await app.http.post(`${team.path}/people/erase`, team.owner.token, { email: address });
  expect(await join(team, second)).toMatchObject(notFound);
  expect(await app.services.db.removedMember.findMany({ where: { workspaceId: team.id } })).toEqual([
    { workspaceId: team.id, userId: null, addressHash: expect.any(Uint8Array), removedAt: expect.any(Date) },
  ]);
  // The bar is one of this workspace alone.
  expect((await join(await addOpenTeam('again.example'), second)).status).toBe(200);
});

test.each(['invitation', 'invite link'])('who was removed and is back by an %s may leave and come back', async (by) => {
  const domain = `${by.replace(' ', '-')}.example`;
  const team = await addOpenTeam(domain);
  const person = await addPersonAt(domain);
  expect((await join(team, person)).status).toBe(200);
  await app.http.delete(`${team.path}/members/${person.id}`, team.admin.token);
  const { email } = await app.services.db.user.findUniqueOrThrow({ where: { id: person.id } });
  if (by === 'invitation') {
    await team.owner.client.invitations.create.mutate({ id: team.id, email, role: 'member' });
    const token = await tokenFor(app, email, 'workspace-invitation');
    expect((await app.http.post('/api/invitations/accept', person.token, { token })).status).toBe(200);
  } else {
    const { token } = await team.owner.client.workspaces.invite.mutate({ id: team.id });
    expect((await app.http.post(`/api/workspaces/join/${token}`, person.token)).status).toBe(200);
  }
  expect(await app.services.db.removedMember.count({ where: { workspaceId: team.id } })).toBe(0);
  await app.http.delete(`${team.path}/members/${person.id}`, person.token);
  expect(await joinable(person)).toEqual([team.id]);
  expect((await join(team, person)).status).toBe(200);
  await app.http.delete(`${team.path}/members/${person.id}`, team.admin.token);
  expect(await join(team, person)).toMatchObject(notFound);
});

test('inviting another account with the former address does not bring back the one that was removed', async () => {
  const team = await addOpenTeam('former.example');
  const [removed, other] = await Promise.all([addPerson(app), addPerson(app)]);
  await setAddress(removed, 'shared@former.example');
  expect((await join(team, removed)).status).toBe(200);
  await app.http.delete(`${team.path}/members/${removed.id}`, team.admin.token);
  await setAddress(removed, 'elsewhere@former.example');
  await setAddress(other, 'shared@former.example');
  const { token } = await team.owner.client.workspaces.invite.mutate({ id: team.id });
  expect((await app.http.post(`/api/workspaces/join/${token}`, other.token)).status).toBe(200);
  expect(await join(team, removed)).toMatchObject(notFound);
});

test('the quota of members and a required sign-in hold', async () => {
  const small = await startTestApp({ settings: { quotas: { ...app.services.settings.quotas, members: 3 } } });
  try {
    const team = await addTeam(small);
    const { db, clock } = small.services;
    await db.user.updateMany({ data: { emailVerifiedAt: clock.now() } });
    await db.workspace.update({ where: { id: team.id }, data: { joinDomain: 'example.com' } });
    expect((await small.http.post(`${team.path}/join`, team.outsider.token)).status).toBe(409);
  } finally {
    await small.close();
  }
  const provider = { requiredSignIn: 'provider', requiredIssuer: 'https://id.example.com' };
  const requirements = {
    WORKSPACE_REQUIRES_SECOND_FACTOR: { requiredSignIn: 'second_factor' },
    WORKSPACE_REQUIRES_PROVIDER: provider,
  };
  for (const [code, data] of Object.entries(requirements)) {
    const domain = `${code.toLowerCase().replaceAll('_', '-')}.example`;
    const team = await addOpenTeam(domain);
    await app.services.db.workspace.update({ where: { id: team.id }, data });
    const colleague = await addPersonAt(domain);
    expect((await join(team, colleague)).status).toBe(200);
    expect(await app.http.get(team.path, colleague.token)).toMatchObject({ status: 403, body: { code } });
  }
});

test('a person who joins 20 times at once becomes one member, with one member.joined', async () => {
  const team = await addOpenTeam('often.example');
  const colleague = await addPersonAt('often.example');
  const before = await eventsOf(app, team.id, 'member.joined');
  const answers = await Promise.all(Array.from({ length: 20 }, () => join(team, colleague)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await app.services.db.member.count({ where: { workspaceId: team.id } })).toBe(4);
  expect(await eventsOf(app, team.id, 'member.joined')).toHaveLength(before.length + 1);
});

test('a person who waits to join while it is switched off, or while they are removed, stays outside', async () => {
  const team = await addOpenTeam('race.example');
  const colleague = await addPersonAt('race.example');
  const locked = `select from workspaces where id = ${team.id} for update`;
  const refused = await changeWhileBlocked(
    app,
    locked,
    () => join(team, colleague),
    (client) => client.query('update workspaces set join_domain = null where id = $1', [team.id]),
  );
  expect(refused).toMatchObject(notFound);
  await set(team, 'race.example');
  expect((await join(team, colleague)).status).toBe(200);
  const removed = await changeWhileBlocked(
    app,
    locked,
    () => join(team, colleague),
    async (client) => {
      const key = [team.id, colleague.id];
      await client.query('delete from members where workspace_id = $1 and user_id = $2', key);
      await client.query(
        `insert into removed_members (workspace_id, user_id, address_hash, removed_at) values ($1, $2, '', now())`,
        key,
      );
    },
  );
  expect(removed).toMatchObject(notFound);
  expect((await app.http.get(team.path, colleague.token)).status).toBe(403);
});
