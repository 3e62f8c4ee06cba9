/** What the service tells people by mail about their account. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mailTo } from '../support/mail.ts';
import { withoutJoiners } from '../support/received-mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Person, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app, 'Win money at evil.example');
});
afterAll(() => app.close());

async function lastMailTo({ email }: Person) {
  const message = (await mailTo(app, email)).at(-1);
  if (!message) throw new Error(`There is no message to ${email}`);
  return message;
}

test('a person whose account creates an API key gets a notice, without any link', async () => {
  await app.http.post(`${team.path}/api-keys`, team.admin.token, { name: 'https://evil.example/x' });
  const { kind, text, html } = await lastMailTo(team.admin);
  expect(kind).toBe('api-key-created');
  expect(withoutJoiners(text)).toContain('Key: https://evil.example/x\n');
  expect(text).toContain('Begins with: lnx_');
  expect(text + html).not.toMatch(/evil\.example|href/);
});

test('the person who created a key gets a notice when somebody rotates it', async () => {
  const key = { name: 'Nightly', belongs_to: 'workspace' };
  const { apiKey } = (await app.http.post(`${team.path}/api-keys`, team.admin.token, key)).body;
  const rotate = (overlap_hours: number) =>
    app.http.post(`${team.path}/api-keys/${apiKey.id}/rotate`, team.owner.token, { overlap_hours });
  const rotated = (await rotate(1)).body.apiKey;
  const { kind, text, html } = await lastMailTo(team.admin);
  expect(kind).toBe('api-key-rotated');
  expect(text).toContain(`Key: Nightly\nNow begins with: ${rotated.key_prefix}\n`);
  expect(text).toMatch(/Rotated by: Olive Owner\nPrevious secret: works until \d{4}-\d\d-\d\d \d\d:\d\d UTC\n/);
  expect(text + html).not.toMatch(/evil\.example|href/);
  await rotate(0);
  expect((await lastMailTo(team.admin)).text).toContain('Previous secret: no longer works\n');
});

test('the old and the new owner of a workspace get a notice', async () => {
  await team.owner.client.members.changeRole.mutate({ id: team.id, userId: team.member.id, role: 'owner' });
  const [old, next] = [await lastMailTo(team.owner), await lastMailTo(team.member)];
  expect([old.subject, next.subject]).toEqual(['Your workspace has a new owner', 'You now own a workspace']);
  for (const { text } of [old, next]) expect(text).toContain('Owner: Mia Member\n');
});

test('a change that fails reports nothing', async () => {
  const before = await mailTo(app, team.outsider.email);
  const { status } = await app.http.post(`${team.path}/api-keys`, team.outsider.token, { name: 'Nightly' });
  expect([status, await mailTo(app, team.outsider.email)]).toEqual([403, before]);
});
