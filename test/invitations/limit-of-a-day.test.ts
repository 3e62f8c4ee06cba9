/** Invitations beyond the limit of a day: they wait, and are sent on a later day. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import { sendDueMail } from '../../src/mail/mailer.ts';
import { createSmtpTransport } from '../../src/mail/smtp.ts';
import { tokenFor } from '../support/mail.ts';
import { startMailServer } from '../support/mail-server.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, PASSWORD, type Person, type Team } from '../support/world.ts';
import { accept, lookUp } from './invite.ts';

const PER_DAY = 3;
const DAY = DAY_MS / 1_000;

let app: TestApp;
let server: Awaited<ReturnType<typeof startMailServer>>;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ settings: { invitationsPerDay: PER_DAY } });
  server = await startMailServer({});
});
beforeEach(async () => {
  team = await addTeam(app);
});
afterAll(async () => {
  await app.close();
  await server.close();
});

let addresses = 0;
function send({ id, by = team.owner, email }: { id?: number; by?: Person; email?: string } = {}) {
  addresses += 1;
  return app.http.post(`/api/workspaces/${id ?? team.id}/invitations`, by.token, {
    email: email ?? `invited${addresses}@example.com`,
    role: 'member',
  });
}

/** Uses the limit of the day up. */
async function fill(by = team.owner): Promise<void> {
  for (let count = 0; count < PER_DAY; count += 1)
    expect((await send({ by })).body.invitation).toMatchObject({ state: 'pending', scheduled_at: null });
}

/** Sends what is due, and returns who got mail. */
async function sendDue(): Promise<string[]> {
  const source = { baseUrl: app.url, address: 'noreply@lynxroom.example' };
  const transport = createSmtpTransport({ smtpUrl: server.url, from: { name: 'Lynxroom', address: source.address } });
  const before = server.received.length;
  while ((await sendDueMail({ services: app.services, transport, source })) > 0);
  transport.close();
  return server.received.slice(before).flatMap(({ to }) => to);
}

async function signInAgain({ email }: Person): Promise<string> {
  return (await app.http.post('/api/auth/login', undefined, { email, password: PASSWORD })).body.token;
}

test('beyond the limit the mail waits for the next day, and says so', async () => {
  await fill();
  app.clock.advance(HOUR_MS);
  const { status, body } = await send({ email: 'waits@example.com' });
  const { sent_at, created_at, scheduled_at, expires_at } = body.invitation;
  expect([status, body.invitation.state]).toEqual([200, 'pending']);
  // A day after the first of those that fill the limit.
  expect(Math.abs(scheduled_at - created_at - (DAY - 3_600))).toBeLessThan(60);
  expect([sent_at, expires_at]).toEqual([scheduled_at, scheduled_at + 7 * DAY]);
  expect(await sendDue()).not.toContain('waits@example.com');
  const token = await tokenFor(app, 'waits@example.com', 'workspace-invitation');

  app.clock.advance(DAY_MS - HOUR_MS);
  expect(await sendDue()).toContain('waits@example.com');
  const owner = await signInAgain(team.owner);
  const { invitations } = (await app.http.get(`${team.path}/invitations`, owner)).body;
  expect(invitations[0]).toMatchObject({ state: 'pending', sent_at, scheduled_at: null });
  expect((await lookUp(app, token)).status).toBe(200);
  expect((await accept(app, await addPerson(app), token)).status).toBe(200);
});

test('the limit is that of the workspace, and that of the user in all workspaces', async () => {
  const { workspace: second } = await team.owner.client.workspaces.create.mutate({ name: 'Second' });
  await fill();
  for (const call of [{ by: team.admin }, { id: second.id }])
    expect((await send(call)).body.invitation.scheduled_at).not.toBeNull();
  const other = await addTeam(app);
  expect((await send({ id: other.id, by: other.owner })).body.invitation.scheduled_at).toBeNull();
});

test('no day has more than the limit, and ten days may wait', async () => {
  await fill();
  const days: number[] = [];
  for (let count = 0; count < 10 * PER_DAY; count += 1) {
    const { status, body } = await send();
    expect(status).toBe(200);
    days.push(Math.round((body.invitation.scheduled_at - body.invitation.created_at) / DAY));
  }
  expect(days).toEqual(Array.from({ length: 10 * PER_DAY }, (_, index) => 1 + Math.floor(index / PER_DAY)));
  const refused = await send();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3600']);
  expect(refused.body.message).toBe('3 invitations are sent in a day, and those of the next 10 days already wait');
});

test('an invitation that waits is not sent once it is revoked, and leaves its place to another', async () => {
  await fill();
  const { id, scheduled_at } = (await send({ email: 'revoked@example.com' })).body.invitation;
  expect((await app.http.delete(`${team.path}/invitations/${id}`, team.admin.token)).status).toBe(200);
  const waiting = { toAddress: 'revoked@example.com', state: 'queued' };
  expect(await app.services.db.mailMessage.count({ where: waiting })).toBe(0);
  for (let count = 0; count < PER_DAY; count += 1)
    expect((await send()).body.invitation.scheduled_at - scheduled_at).toBeLessThan(DAY / 2);
});

test('what waits is not sent if its sender may no longer invite, or the workspace is deleted', async () => {
  await fill(team.admin);
  await send({ by: team.admin, email: 'of-former-admin@example.com' });
  await app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role: 'member' });
  const doomed = await addTeam(app);
  team = doomed;
  await fill();
  await send({ email: 'of-deleted@example.com' });
  expect((await app.http.delete(doomed.path, doomed.owner.token)).status).toBe(200);
  app.clock.advance(DAY_MS);
  const sent = await sendDue();
  expect(sent).not.toContain('of-former-admin@example.com');
  expect(sent).not.toContain('of-deleted@example.com');
});

test('sending again waits too, and not twice', async () => {
  const { id } = (await send({ email: 'again@example.com' })).body.invitation;
  for (let count = 1; count < PER_DAY; count += 1) await send();
  const resend = () => app.http.post(`${team.path}/invitations/${id}/resend`, team.owner.token);
  expect((await resend()).body.invitation).toMatchObject({ id, state: 'pending', scheduled_at: expect.any(Number) });
  expect(await resend()).toMatchObject({
    status: 409,
    body: { message: 'The invitation has not been sent yet: it waits for its day' },
  });
});

test('at most ten invitations to one mailbox wait', async () => {
  const teams = [];
  for (let count = 0; count < 11; count += 1) {
    team = await addTeam(app);
    await fill();
    teams.push(team);
  }
  const statuses = [];
  for (const [index, { id, owner }] of teams.entries()) {
    // Within an hour, a mailbox gets ten of any kind.
    if (index === 5) app.clock.advance(HOUR_MS);
    statuses.push((await send({ id, by: owner, email: `popular+${index}@example.com` })).status);
  }
  expect(statuses).toEqual([...Array(10).fill(200), 429]);
});
