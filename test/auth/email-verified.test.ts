/** Which addresses in lists are confirmed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tokenFor } from '../support/mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Person, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  await verify(team.member);
  await verify(team.outsider);
});
afterAll(() => app.close());

async function verify({ email, token }: Person): Promise<void> {
  await app.http.post('/api/auth/verify-email', token, { token: await tokenFor(app, email, 'verify-email') });
}

/** Which addresses of a list are confirmed. */
function verifiedIn(people: { email: string; email_verified: boolean }[]): string[] {
  return people.filter((person) => person.email_verified).map(({ email }) => email);
}

test('the members of a workspace', async () => {
  const { members } = (await app.http.get(team.path, team.owner.token)).body.workspace;
  expect(members).toHaveLength(3);
  expect(verifiedIn(members)).toEqual([team.member.email]);
});

test('the participants of a room: only those with an account, not guests who name its address', async () => {
  const { room } = (await app.http.post('/api/dashboard/rooms', team.owner.token, { workspace_id: team.id })).body;
  const join = (token: string | undefined, body: object) => app.http.post(`/api/rooms/${room.name}/join`, token, body);
  await join(team.member.token, {});
  await join(team.admin.token, {});
  await join(undefined, { name: 'Impostor', email: team.outsider.email });
  const path = `/api/dashboard/rooms/${room.name}/participants`;
  const { participants } = (await app.http.get(path, team.owner.token)).body;
  expect(participants).toHaveLength(3);
  expect(verifiedIn(participants)).toEqual([team.member.email]);
});

test('contacts: only of people who are known to the workspace, so that nobody can look for accounts', async () => {
  const { contacts } = (await app.http.get(`${team.path}/contacts`, team.owner.token)).body;
  expect(contacts.map(({ email }: Person) => email)).toContain(team.outsider.email);
  expect(verifiedIn(contacts)).toEqual([team.member.email]);

  const { room } = (await app.http.post('/api/dashboard/rooms', team.owner.token, { workspace_id: team.id })).body;
  await app.http.post(`/api/rooms/${room.name}/join`, team.outsider.token, {});
  const search = `?search=${encodeURIComponent(team.outsider.email)}`;
  const [contact] = (await app.http.get(`${team.path}/contacts${search}`, team.owner.token)).body.contacts;
  expect(contact.email_verified).toBe(true);
  const read = await app.http.get(`${team.path}/contacts/${contact.id}`, team.owner.token);
  expect(read.body.contact.email_verified).toBe(true);
});
