/** What ends embed tokens besides their time: their maker's membership, account and app; and what never takes them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS } from '../../src/core/time.ts';
import { pruneEmbedTokens } from '../../src/features/embed-tokens/embed-tokens.ts';
import { connectApp, consent, statusOf } from '../mcp/oauth-client.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

const make = async (by: string, path = team.path): Promise<string> =>
  (await app.http.post(`${path}/embed-tokens`, by, { kind: 'library' })).body.token;
const use = async (token: string, path = team.path) => (await app.http.get(`${path}/library`, token)).status;

test('ends with the membership of its maker, and stays ended when the maker comes back', async () => {
  const { id, path, owner, admin } = await addTeam(app);
  const token = await make(admin.token, path);
  expect(await use(token, path)).toBe(200);
  await owner.client.members.remove.mutate({ id, userId: admin.id });
  expect(await use(token, path)).toBe(401);
  const { token: invitation } = await owner.client.workspaces.invite.mutate({ id });
  await admin.client.workspaces.join.mutate({ token: invitation });
  expect(await use(token, path)).toBe(401);
});

test('ends with the account of its maker', async () => {
  const { path, admin } = await addTeam(app);
  const token = await make(admin.token, path);
  await admin.client.auth.deleteMe.mutate();
  expect(await use(token, path)).toBe(401);
});

test('ends with the connected app that made it', async () => {
  const { agent } = await connectApp(app, (url) => consent(app, team.admin, team.id, url, ['write', 'admin']));
  const { data } = await agent.call('call_operation', {
    operation: 'embedTokens.create',
    arguments: { kind: 'library' },
  });
  expect(await use(data.token)).toBe(200);
  await agent.client.close();
  const { apps } = await team.admin.client.apps.list.query();
  await team.admin.client.apps.disconnect.mutate({ appId: apps[0]?.id ?? 0 });
  expect(await use(data.token)).toBe(401);
});

test('is refused at /mcp, and works on', async () => {
  const token = await make(team.owner.token);
  expect(await statusOf(app, token)).toBe(401);
  expect(await use(token)).toBe(200);
});

test('is deleted when it has expired, and not before', async () => {
  const other = await startTestApp();
  const { path, owner } = await addTeam(other);
  const count = () => other.services.db.embedToken.count();
  for (const expires_in of [600, 86_400])
    await other.http.post(`${path}/embed-tokens`, owner.token, { kind: 'webhooks', expires_in });
  other.clock.advance(601_000);
  await pruneEmbedTokens(other.services);
  expect(await count()).toBe(1);
  other.clock.advance(DAY_MS);
  await pruneEmbedTokens(other.services);
  expect(await count()).toBe(0);
  await other.close();
});
