/** Concurrent uses of invitations. */
import type { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Team } from '../support/world.ts';
import { accept, invite } from './invite.ts';

const ROUNDS = 10;

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

/** How many of the people are members. */
function countMembers(
  people: readonly { id: number }[],
  { id: workspaceId }: Pick<Team, 'id'> = team,
): Promise<number> {
  return app.services.db.member.count({ where: { workspaceId, userId: { in: people.map(({ id }) => id) } } });
}

async function findId(email: string): Promise<number> {
  return (await app.services.db.invitation.findFirstOrThrow({ where: { email } })).id;
}

test('only one of several people who accept an invitation at once joins', async () => {
  const people = await concurrently(4, () => addPerson(app));
  const token = await invite(app, team, 'raced@example.com');
  const answers = await Promise.all(people.map((person) => accept(app, person, token)));
  expect(countStatuses(answers)).toEqual({ 200: 1, 404: 3 });
  expect(await countMembers(people)).toBe(1);
});

test('somebody who accepts twice at once joins once', async () => {
  const guest = await addPerson(app);
  const token = await invite(app, team, guest.email);
  const answers = await concurrently(4, () => accept(app, guest, token));
  expect(countStatuses(answers)).toEqual({ 200: 1, 404: 3 });
  const events = await app.services.db.event.findMany({ where: { workspaceId: team.id, type: 'member.joined' } });
  expect(events.filter(({ data }) => JSON.stringify(data).includes(`"user_id":${guest.id},`))).toHaveLength(1);
});

test('an invitation that is accepted and revoked at once is either', async () => {
  await concurrently(ROUNDS, async (round) => {
    const email = `either${round}@example.com`;
    const [guest, token] = [await addPerson(app), await invite(app, team, email)];
    const id = await findId(email);
    const [accepted, revoked] = await Promise.all([
      accept(app, guest, token),
      app.http.delete(`${team.path}/invitations/${id}`, team.admin.token),
    ]);
    expect([
      [200, 409],
      [404, 200],
    ]).toContainEqual([accepted.status, revoked.status]);
    expect(await countMembers([guest])).toBe(accepted.status === 200 ? 1 : 0);
  });
});

test('somebody who accepts while the sender is removed does not join afterwards', async () => {
  const [other, guest] = [await addTeam(app), await addPerson(app)];
  const token = await invite(app, other, 'too-late@example.com', { by: other.admin });
  const removal = (client: Client) =>
    client.query(
      "update invitations set state = 'revoked', token_hash = null, ended_at = now() where workspace_id = $1",
      [other.id],
    );
  // The removal of a member locks the workspace in the same way.
  const lock = `select from workspaces where id = ${other.id} for no key update`;
  const answer = await changeWhileBlocked(app, lock, () => accept(app, guest, token), removal);
  expect(answer.status).toBe(404);
  expect(await countMembers([guest], other)).toBe(0);
});

test('concurrent acceptances and removals of senders leave no fault', async () => {
  await concurrently(ROUNDS, async (round) => {
    const [other, guest] = [await addTeam(app), await addPerson(app)];
    const token = await invite(app, other, `removed${round}@example.com`, { by: other.admin });
    const [accepted, removed] = await Promise.all([
      accept(app, guest, token),
      app.http.delete(`${other.path}/members/${other.admin.id}`, other.owner.token),
    ]);
    expect(removed.status).toBe(200);
    expect([200, 404]).toContain(accepted.status);
    expect(await countMembers([guest], other)).toBe(accepted.status === 200 ? 1 : 0);
  });
});

test('an invitation that is accepted while its workspace is deleted is accepted before, or gets 404', async () => {
  await concurrently(ROUNDS, async (round) => {
    const [other, guest] = [await addTeam(app), await addPerson(app)];
    const token = await invite(app, other, `deleted${round}@example.com`);
    const [accepted, deleted] = await Promise.all([
      accept(app, guest, token),
      app.http.delete(other.path, other.owner.token),
    ]);
    expect(deleted.status).toBe(200);
    expect([200, 404]).toContain(accepted.status);
    expect(await app.services.db.invitation.count({ where: { workspaceId: other.id } })).toBe(0);
  });
});

test('an address that is invited several times at once has one invitation, and gets one message', async () => {
  const email = 'same@example.com';
  const send = () => app.http.post(`${team.path}/invitations`, team.owner.token, { email, role: 'member' });
  expect(countStatuses(await concurrently(4, send))).toEqual({ 200: 1, 409: 3 });
  expect(await app.services.db.mailMessage.count({ where: { toAddress: email } })).toBe(1);
});

test('a link that is sent again while it is accepted works once', async () => {
  await concurrently(ROUNDS, async (round) => {
    const email = `resent${round}@example.com`;
    const [guest, token] = [await addPerson(app), await invite(app, team, email)];
    const id = await findId(email);
    const [accepted, resent] = await Promise.all([
      accept(app, guest, token),
      app.http.post(`${team.path}/invitations/${id}/resend`, team.owner.token),
    ]);
    expect([
      [200, 409],
      [404, 200],
    ]).toContainEqual([accepted.status, resent.status]);
  });
});
