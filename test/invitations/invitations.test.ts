/** Inviting people by mail: what the links do, and what ends them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import { pruneInvitations } from '../../src/features/invitations/read-invitations.ts';
import { sendDueMail } from '../../src/mail/mailer.ts';
import { pruneMail } from '../../src/mail/prune-mail.ts';
import { createSmtpTransport } from '../../src/mail/smtp.ts';
import { auditOf, lastAuditId } from '../support/audit.ts';
import { eventsOf } from '../support/events.ts';
import { mailTo, tokenFor } from '../support/mail.ts';
import { refusal, startMailServer } from '../support/mail-server.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Person, type Team } from '../support/world.ts';
import { accept, invite, lookUp } from './invite.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app, 'Design team');
});
afterAll(() => app.close());

async function stateOf({ client }: Person, workspaceId: number, invitationId: number): Promise<string | undefined> {
  const { invitations } = await client.invitations.list.query({ id: workspaceId });
  return invitations.find(({ id }) => id === invitationId)?.state;
}

test('the mail is in the language of the workspace, and the link tells its page which that is', async () => {
  const own = await addTeam(app, 'Rédaction');
  const [first, second] = ['english.invited@example.com', 'french.invited@example.com'] as const;
  const send = (email: string) => own.admin.client.invitations.create.mutate({ id: own.id, email, role: 'admin' });
  await send(first);
  const { branding } = await own.owner.client.branding.change.mutate({ id: own.id, language: 'fr' });
  const { invitation } = await send(second);
  await own.admin.client.invitations.resend.mutate({ id: own.id, invitationId: invitation.id });
  const mails = await mailTo(app, second);
  expect(mails.map(({ subject }) => subject)).toEqual(Array(2).fill('Invitation dans un espace de travail Lynxroom'));
  expect(mails[0]?.text).toContain('Espace de travail: Rédaction\nInvité par: ');
  expect(mails[0]?.html).toContain('<html lang="fr" dir="ltr">');
  expect((await mailTo(app, first))[0]?.subject).toBe('Invitation to a Lynxroom workspace');
  const token = await tokenFor(app, second, 'workspace-invitation');
  expect((await lookUp(app, token)).body.invitation).toMatchObject({ branding });
});

test('an invitation to a Personal workspace names its owner, to its page and in the mail', async () => {
  const owner = await addPerson(app, 'Petra');
  const [personal] = (await owner.client.workspaces.list.query({})).workspaces;
  const email = 'invited.to.personal@example.com';
  const token = await invite(app, { path: `/api/workspaces/${personal?.id}`, owner }, email);
  const names = { workspace_name: 'Personal', is_personal: 1, owner_name: 'Petra' };
  expect((await lookUp(app, token)).body.invitation).toMatchObject(names);
  expect((await mailTo(app, email))[0]?.text).toContain("Workspace: Petra's Personal\nInvited by: Petra\n");
  const inTeam = await invite(app, team, `${email}.org`);
  const ofTeam = { workspace_name: 'Design team', is_personal: 0, owner_name: team.owner.name };
  expect((await lookUp(app, inTeam)).body.invitation).toMatchObject(ofTeam);
});

test('an admin invites an address, whose owner joins with the role of the invitation', async () => {
  const after = await lastAuditId(app);
  const guest = await addPerson(app, 'Guest');
  const { client } = team.admin;
  const invited = await client.invitations.create.mutate({
    id: team.id,
    email: guest.email.toUpperCase(),
    role: 'admin',
  });
  const { id } = invited.invitation;
  expect(invited.invitation).toEqual({
    id,
    email: guest.email,
    role: 'admin',
    state: 'pending',
    invited_by: team.admin.id,
    invited_by_name: team.admin.name,
    accepted_by: null,
    created_at: expect.any(Number),
    sent_at: invited.invitation.created_at,
    scheduled_at: null,
    expires_at: invited.invitation.created_at + (7 * DAY_MS) / 1000,
  });
  const token = await tokenFor(app, guest.email, 'workspace-invitation');
  expect(JSON.stringify(invited)).not.toContain(token);

  expect(await lookUp(app, token)).toMatchObject({
    status: 200,
    body: {
      invitation: {
        workspace_name: 'Design team',
        email: guest.email,
        role: 'admin',
        invited_by_name: team.admin.name,
        is_expired: 0,
      },
    },
  });
  const { status, body } = await accept(app, guest, token);
  expect([status, body.workspace.id, body.workspace.role]).toEqual([200, team.id, 'admin']);
  expect((await guest.client.workspaces.read.query({ id: team.id })).workspace.role).toBe('admin');
  expect(await stateOf(team.owner, team.id, id)).toBe('accepted');

  const joined = (await eventsOf(app, team.id, 'member.joined')).at(-1);
  expect(joined?.data).toMatchObject({ user_id: guest.id, role: 'admin' });
  expect(
    (await auditOf(app, team.id, after)).map(({ action, target, details }) => [action, target[1], details]),
  ).toEqual([
    ['invitation.created', id, { after: { role: 'admin' } }],
    ['member.joined', guest.id, { name: guest.name, after: { role: 'admin', by: 'invitation' } }],
    ['invitation.accepted', id, {}],
  ]);
});

test('the mail has the link in text and HTML, and the database neither the token nor the link', async () => {
  const email = 'mailed@example.com';
  const token = await invite(app, team, email);
  const [mail] = await mailTo(app, email);
  for (const content of [mail?.text, mail?.html]) {
    expect(content).toContain(`${app.url}/invitation#token=${token}`);
    expect(content).toContain('Design team');
    expect(content).toContain('Olive Owner');
  }
  const row = await app.services.db.invitation.findFirstOrThrow({ where: { email } });
  expect(JSON.stringify(row)).not.toContain(token);
  expect(row.tokenHash).toHaveLength(32);
});

test('a link works once', async () => {
  const token = await invite(app, team, 'once@example.com');
  const [first, second] = [await addPerson(app), await addPerson(app)];
  expect((await accept(app, first, token)).status).toBe(200);
  for (const person of [first, second])
    expect(await accept(app, person, token)).toMatchObject({ status: 404, body: { message: 'Invitation not found' } });
  expect((await lookUp(app, token)).status).toBe(404);
  await expect(second.client.workspaces.read.query({ id: team.id })).rejects.toMatchObject({ status: 403 });
});

describe('the address of the account', () => {
  test('is verified if it was invited, and the log of the account says so', async () => {
    const guest = await addPerson(app);
    const token = await invite(app, team, guest.email);
    expect((await guest.client.auth.me.query()).user.email_verified).toBe(false);
    await accept(app, guest, token);
    expect((await guest.client.auth.me.query()).user.email_verified).toBe(true);
    const events = await app.services.db.accountEvent.findMany({ where: { userId: guest.id } });
    expect(events.map(({ action }) => action)).toContain('email_verified');
  });

  test('may be another one, and is then not verified', async () => {
    const guest = await addPerson(app);
    const token = await invite(app, team, 'elsewhere@example.com');
    expect((await accept(app, guest, token)).status).toBe(200);
    expect((await guest.client.auth.me.query()).user.email_verified).toBe(false);
  });
});

test('a member cannot accept, and the link still works for somebody else', async () => {
  const token = await invite(app, team, 'forwarded@example.com');
  expect(await accept(app, team.member, token)).toMatchObject({
    status: 409,
    body: { code: 'CONFLICT', message: 'You are already a member of this workspace' },
  });
  expect((await team.member.client.workspaces.read.query({ id: team.id })).workspace.role).toBe('member');
  expect((await accept(app, await addPerson(app), token)).status).toBe(200);
});

test('an expired invitation can be looked at and sent again, but not accepted', async () => {
  const [other, guest] = [await addTeam(app), await addPerson(app)];
  const token = await invite(app, other, guest.email);
  const [invitation] = (await other.owner.client.invitations.list.query({ id: other.id })).invitations;
  const id = invitation?.id ?? 0;
  await app.services.db.invitation.updateMany({ where: { id }, data: { expiresAt: app.clock.now() } });
  expect((await lookUp(app, token)).body.invitation.is_expired).toBe(1);
  expect(await accept(app, guest, token)).toMatchObject({
    status: 409,
    body: { message: 'The invitation has expired: ask for a new one' },
  });
  expect(await stateOf(other.owner, other.id, id)).toBe('expired');
  const answer = await app.http.post(`${other.path}/invitations/${id}/resend`, other.admin.token);
  expect([answer.status, answer.body.invitation.state, answer.body.invitation.invited_by]).toEqual([
    200,
    'pending',
    other.admin.id,
  ]);
  expect((await accept(app, guest, token)).status).toBe(404);
  expect((await accept(app, guest, await tokenFor(app, guest.email, 'workspace-invitation'))).status).toBe(200);
});

test('an invitation that the mail server refuses is failed until it is sent again or expires', async () => {
  const [other, email] = [await addTeam(app), 'unknown@example.com'];
  let isRefused = true;
  await using cleanup = new AsyncDisposableStack();
  const server = await startMailServer({
    onRecipient(address) {
      if (isRefused && address === email) throw refusal(550, '5.1.1 No such user');
    },
  });
  cleanup.defer(server.close);
  const source = { baseUrl: app.url, address: 'noreply@lynxroom.example' };
  const transport = createSmtpTransport({ smtpUrl: server.url, from: { name: 'Lynxroom', address: source.address } });
  cleanup.defer(() => transport.close());
  const send = async (): Promise<void> => {
    while ((await sendDueMail({ services: app.services, transport, source })) > 0);
  };
  await invite(app, other, email);
  await invite(app, other, 'known@example.com');
  const states = async () =>
    Object.fromEntries(
      (await other.owner.client.invitations.list.query({ id: other.id })).invitations.map((one) => [
        one.email,
        one.state,
      ]),
    );
  expect(await states()).toEqual({ [email]: 'pending', 'known@example.com': 'pending' });
  await send();
  expect(await states()).toEqual({ [email]: 'failed', 'known@example.com': 'pending' });

  const { id } = await app.services.db.invitation.findFirstOrThrow({ where: { email, workspaceId: other.id } });
  await app.services.db.mailMessage.updateMany({
    where: { toAddress: email },
    data: { endedAt: new Date(app.clock.now().getTime() - 8 * DAY_MS) },
  });
  await pruneMail(app.services);
  expect((await states())[email]).toBe('failed');

  app.clock.advance(1_000);
  isRefused = false;
  const again = await app.http.post(`${other.path}/invitations/${id}/resend`, other.owner.token);
  expect([again.status, again.body.invitation.state]).toEqual([200, 'pending']);
  await send();
  expect((await states())[email]).toBe('pending');
});

test('an address is invited once at a time; an expired invitation is replaced', async () => {
  const email = 'twice@example.com';
  const first = await invite(app, team, email);
  const create = (role: string) => app.http.post(`${team.path}/invitations`, team.admin.token, { email, role });
  expect(await create('admin')).toMatchObject({
    status: 409,
    body: { message: 'This address is already invited: send the invitation again, or revoke it' },
  });
  await app.services.db.invitation.updateMany({ where: { email }, data: { expiresAt: app.clock.now() } });
  expect((await create('admin')).body.invitation).toMatchObject({ role: 'admin', state: 'pending' });
  expect((await lookUp(app, first)).status).toBe(404);
});

test('a revoked invitation ends, and an address can then be invited again', async () => {
  const email = 'revoked@example.com';
  const token = await invite(app, team, email);
  const { id } = await app.services.db.invitation.findFirstOrThrow({ where: { email } });
  const path = `${team.path}/invitations/${id}`;
  expect((await app.http.delete(path, team.admin.token)).body).toEqual({ ok: true });
  expect((await accept(app, await addPerson(app), token)).status).toBe(404);
  const refused = { status: 409, body: { message: 'The invitation was already revoked' } };
  expect(await app.http.delete(path, team.owner.token)).toMatchObject(refused);
  expect(await app.http.post(`${path}/resend`, team.owner.token)).toMatchObject(refused);
  expect(await stateOf(team.owner, team.id, id)).toBe('revoked');
  await invite(app, team, email);
});

describe('invitations end with the right to invite', () => {
  test.each([
    ['the sender is removed', (one: Team) => app.http.delete(`${one.path}/members/${one.admin.id}`, one.owner.token)],
    ['the sender leaves', (one: Team) => app.http.delete(`${one.path}/members/${one.admin.id}`, one.admin.token)],
    [
      'the sender becomes a member',
      (one: Team) => app.http.patch(`${one.path}/members/${one.admin.id}`, one.owner.token, { role: 'member' }),
    ],
    ['the sender deletes the account', (one: Team) => app.http.delete('/api/auth/me', one.admin.token)],
    ['the workspace is deleted', (one: Team) => app.http.delete(one.path, one.owner.token)],
  ])('if %s', async (_, end) => {
    const [other, guest] = [await addTeam(app), await addPerson(app)];
    const ended = await invite(app, other, 'by-admin@example.com', { by: other.admin, role: 'admin' });
    const kept = await invite(app, other, 'by-owner@example.com');
    expect((await end(other)).status).toBe(200);
    expect((await accept(app, guest, ended)).status).toBe(404);
    const isDeleted = (await app.services.db.workspace.count({ where: { id: other.id } })) === 0;
    expect((await lookUp(app, kept)).status).toBe(isDeleted ? 404 : 200);
  });

  test('and somebody who is removed cannot come back with an invitation to their own address', async () => {
    const other = await addTeam(app);
    const guest = await addPerson(app);
    const token = await invite(app, other, guest.email);
    await guest.client.workspaces.join.mutate({
      token: (await other.owner.client.workspaces.invite.mutate({ id: other.id })).token,
    });
    await other.owner.client.members.remove.mutate({ id: other.id, userId: guest.id });
    expect((await accept(app, guest, token)).status).toBe(404);
  });
});

describe('limits', () => {
  test('a workspace that has reached its quota of members invites nobody, and nobody joins', async () => {
    const other = await addTeam(app);
    const token = await invite(app, other, 'full@example.com');
    const { quotas } = app.services.settings;
    const before = quotas.members;
    quotas.members = 3;
    const full = { status: 409, body: { message: 'The workspace has reached the quota of 3 members (QUOTA_MEMBERS)' } };
    const body = { email: 'more@example.com', role: 'member' };
    expect(await app.http.post(`${other.path}/invitations`, other.owner.token, body)).toMatchObject(full);
    expect(await accept(app, await addPerson(app), token)).toMatchObject(full);
    quotas.members = before;
    expect((await accept(app, await addPerson(app), token)).status).toBe(200);
  });

  test('an address gets ten invitations in an hour, from all senders together', async () => {
    const email = 'popular@example.com';
    const send = (one: Team) => app.http.post(`${one.path}/invitations`, one.owner.token, { email, role: 'member' });
    const resend = async (one: Team): Promise<number> => {
      const { id } = await app.services.db.invitation.findFirstOrThrow({ where: { email, workspaceId: one.id } });
      return (await app.http.post(`${one.path}/invitations/${id}/resend`, one.owner.token)).status;
    };
    const [first, second] = [await addTeam(app), await addTeam(app)];
    expect((await send(first)).status).toBe(200);
    const statuses = [];
    for (let count = 0; count < 10; count += 1) statuses.push(await resend(first));
    expect(statuses).toEqual([...Array(9).fill(200), 429]);
    const refused = await send(second);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3600']);
    expect(await app.services.db.invitation.count({ where: { email, workspaceId: second.id } })).toBe(0);
    app.clock.advance(HOUR_MS);
    expect((await send(second)).status).toBe(200);
  });

  test('invitations are deleted a month after they expire', async () => {
    const token = await invite(app, await addTeam(app), 'old@example.com');
    app.clock.advance(36 * DAY_MS);
    await pruneInvitations(app.services);
    expect((await lookUp(app, token)).status).toBe(200);
    app.clock.advance(2 * DAY_MS);
    await pruneInvitations(app.services);
    expect((await lookUp(app, token)).status).toBe(404);
  });
});
