/** Invitations beyond the limit of a day: they wait, and are sent on a later day. */
import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import { sendDueMail } from '../../src/mail/mailer.ts';
import { createSmtpTransport } from '../../src/mail/smtp.ts';
import { concurrently } from '../support/concurrently.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
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

/** Sends what is due, with some workers at once, and returns who got mail. */
async function sendDue(workers = 1): Promise<string[]> {
  const source = { baseUrl: app.url, address: 'noreply@lynxroom.example' };
  const before = server.received.length;
  await concurrently(workers, async () => {
    const transport = createSmtpTransport({ smtpUrl: server.url, from: { name: 'Lynxroom', address: source.address } });
    while ((await sendDueMail({ services: app.services, transport, source })) > 0);
    transport.close();
  });
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

test('concurrent invitations do not exceed the limits, and two workers send each once', async () => {
  // Each workspace sends one at a time, so the user has more than the limit at once only in more workspaces.
  const others = await concurrently(2 * PER_DAY, async (index) => {
    const { workspace } = await team.owner.client.workspaces.create.mutate({ name: `Raced ${index}` });
    return { id: workspace.id, by: team.owner };
  });
  const callers = [{ id: team.id, by: team.owner }, { id: team.id, by: team.admin }, ...others];
  const sent = await concurrently(16, async (index) => {
    const { id = 0, by = team.owner } = callers[index % callers.length] ?? {};
    const email = `raced${index}@example.com`;
    expect((await send({ id, by, email })).status).toBe(200);
    return { email, limited: [`workspace ${id}`, `user ${by.id}`] };
  });
  const received: string[] = [];
  for (let day = 0; day <= 10; day += 1) {
    // Mail of the other tests can be due too.
    const today = (await sendDue(2)).filter((address) => address.startsWith('raced'));
    const limited = sent.filter(({ email }) => today.includes(email)).flatMap((one) => one.limited);
    for (const name of new Set(limited))
      expect(limited.filter((one) => one === name).length, `${name} on day ${day}`).toBeLessThanOrEqual(PER_DAY);
    received.push(...today);
    app.clock.advance(DAY_MS);
  }
  expect(received.toSorted()).toEqual(sent.map(({ email }) => email).toSorted());
});

test('an invitation waits for those that its sender sends from another workspace at the same time', async () => {
  const { workspace: second } = await team.owner.client.workspaces.create.mutate({ name: 'Second' });
  const lock = `select pg_advisory_xact_lock(hashtext('invitations of a user'), ${team.owner.id})`;
  const fillSecond = (client: Client) =>
    client.query(
      `insert into mail_messages (message_id, kind, to_address, workspace_id, sender_id, needs_account, state,
        created_at, due_at, ended_at)
      select n::text, 'workspace-invitation', n || '@example.com', $1, $2, false, 'sent', at, at, at
      from generate_series(1, $4::int) n, (values ($3::timestamptz)) given (at)`,
      [second.id, team.owner.id, app.clock.now(), PER_DAY],
    );
  const { body } = await changeWhileBlocked(app, lock, () => send(), fillSecond);
  expect(body.invitation.scheduled_at).not.toBeNull();
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

test('the limit is not given back by deleting the workspace, or by erasing whom one has invited', async () => {
  const { workspace: second } = await team.owner.client.workspaces.create.mutate({ name: 'Second' });
  for (let count = 0; count < PER_DAY; count += 1) {
    const { body } = await send({ id: second.id, email: `person${count}@example.com` });
    expect(body.invitation.scheduled_at).toBeNull();
  }
  await sendDue();
  const erase = `/api/workspaces/${second.id}/people/erase`;
  const erased = await app.http.post(erase, team.owner.token, { email: 'person0@example.com' });
  expect(erased.body.erased).toMatchObject({ mail: 1, invitations: 1 });
  expect((await send()).body.invitation.scheduled_at).not.toBeNull();
  expect((await app.http.delete(`/api/workspaces/${second.id}`, team.owner.token)).status).toBe(200);
  expect((await send()).body.invitation.scheduled_at).not.toBeNull();
  app.clock.advance(DAY_MS);
  team.owner.token = await signInAgain(team.owner);
  expect((await send()).body.invitation.scheduled_at).toBeNull();
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
