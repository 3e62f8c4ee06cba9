/** The keys of a workspace that a member leaves behind. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transports } from '../contract/transports.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function addKey(fields: object) {
  const { apiKey } = (await app.http.post(`${team.path}/api-keys`, team.admin.token, { name: 'Key', ...fields })).body;
  return apiKey;
}

describe.each(transports)('removing a member, over %s', (_, transport) => {
  const cases = [
    ['removed', 'owner'],
    ['left', 'admin'],
  ] as const;
  test.each(cases)('says how many keys that they made still work, if they are %s', async (action, by) => {
    team = await addTeam(app);
    await addKey({});
    const remaining = await addKey({ belongs_to: 'workspace' });
    const off = await addKey({ belongs_to: 'workspace' });
    await app.http.patch(`${team.path}/api-keys/${off.id}`, team.owner.token, { is_active: 0 });
    await addKey({ belongs_to: 'workspace', expires_at: Math.floor(app.clock.now().getTime() / 1000) + 60 });
    app.clock.advance(61_000);

    const input = { id: team.id, userId: team.admin.id };
    const answer = await transport(app, { name: 'members.remove', token: team[by].token, input });
    expect(answer).toMatchObject({ status: 200, body: { ok: true, remaining_workspace_keys: 1 } });
    expect((await app.http.get(`${team.path}/labels`, remaining.full_key)).status).toBe(200);
    const { entries } = (await app.http.get(`${team.path}/audit?action=member.${action}`, team.owner.token)).body;
    expect(entries[0].after).toMatchObject({ revoked_api_keys: 1, remaining_workspace_keys: 1 });
  });
});
