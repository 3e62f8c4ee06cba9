/** The invite link: its token, revoking it, and joining with it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventsOf } from '../support/events.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

async function invite(): Promise<{ token: string; url: string }> {
  return (await app.http.post(`${team.path}/invite`, team.admin.token)).body;
}

function join(token: string, by: { token: string }) {
  return app.http.post(`/api/workspaces/join/${token}`, by.token);
}

describe('the token', () => {
  test('is the same on every call, unguessable, and different for every workspace', async () => {
    const first = await invite();
    expect(await invite()).toEqual(first);
    expect(first.token).toMatch(/^[A-Za-z0-9_-]{32}$/);
    const other = await addTeam(app, 'Other');
    expect((await app.http.post(`${other.path}/invite`, other.owner.token)).body.token).not.toBe(first.token);
  });

  test('works until it is revoked, and then a new one is created', async () => {
    const { token } = await invite();
    expect(await app.http.delete(`${team.path}/invite`, team.member.token)).toMatchObject({ status: 403 });
    expect(await app.http.delete(`${team.path}/invite`, team.admin.token)).toMatchObject({
      status: 200,
      body: { ok: true },
    });
    expect(await app.http.delete(`${team.path}/invite`, team.admin.token)).toMatchObject({ status: 200 });
    const guest = await addPerson(app);
    expect(await join(token, guest)).toMatchObject({ status: 404, body: { message: 'Invite not found' } });
    const next = await invite();
    expect(next.token).not.toBe(token);
    expect((await join(next.token, guest)).status).toBe(200);
  });

  test('of a deleted workspace is unknown', async () => {
    const doomed = await addTeam(app, 'Doomed');
    const { body } = await app.http.post(`${doomed.path}/invite`, doomed.owner.token);
    await app.http.delete(doomed.path, doomed.owner.token);
    expect(await join(body.token, await addPerson(app))).toMatchObject({ status: 404 });
  });

  test('is only in the answer to the request for it', async () => {
    const { token } = await invite();
    for (const path of ['/api/workspaces', team.path])
      expect(JSON.stringify((await app.http.get(path, team.owner.token)).body)).not.toContain(token);
  });
});

describe('the link', () => {
  test('begins with APP_URL if it is set, else with PUBLIC_URL, else with the origin of the request', async () => {
    for (const [settings, base] of [
      [{ appUrl: 'https://app.example', publicUrl: 'https://api.example' }, 'https://app.example'],
      [{ appUrl: null, publicUrl: 'https://api.example' }, 'https://api.example'],
    ] as const) {
      const other = await startTestApp({ settings });
      try {
        const { path, owner } = await addTeam(other);
        const { body } = await other.http.post(`${path}/invite`, owner.token);
        expect(body.url).toBe(`${base}/join/${body.token}`);
      } finally {
        await other.close();
      }
    }
    const { token, url } = await invite();
    expect(url).toBe(`${app.url}/join/${token}`);
  });
});

describe('joining', () => {
  test('adds a member, and emits member.joined once however often it is repeated', async () => {
    const guest = await addPerson(app, 'Gus');
    const { token } = await invite();
    const first = await join(token, guest);
    expect(first.body.workspace).toMatchObject({ id: team.id, role: 'member', is_personal: 0 });
    expect(await join(token, guest)).toMatchObject({ status: 200, body: first.body });
    const { body } = await app.http.get(team.path, guest.token);
    const me = body.workspace.members.at(-1);
    expect(me).toMatchObject({ id: guest.id, role: 'member' });
    const joined = (await eventsOf(app, team.id, 'member.joined')).filter(
      ({ data }) => (data as { user_id: number }).user_id === guest.id,
    );
    expect(joined).toEqual([
      {
        type: 'member.joined',
        data: {
          workspace_id: team.id,
          workspace_name: 'Team',
          user_id: guest.id,
          user_name: 'Gus',
          role: 'member',
          joined_at: me.joined_at,
        },
      },
    ]);
  });

  test('again does not change the role of an admin or the owner', async () => {
    const { token } = await invite();
    for (const role of ['owner', 'admin'] as const)
      expect((await join(token, team[role])).body.workspace.role).toBe(role);
  });

  test('gives the role member, whatever the body contains', async () => {
    const guest = await addPerson(app);
    const { token } = await invite();
    const { body } = await app.http.call('POST', `/api/workspaces/join/${token}`, {
      token: guest.token,
      json: { role: 'owner', token: 'another', workspaceId: 1 },
    });
    expect(body.workspace).toMatchObject({ id: team.id, role: 'member' });
  });
});

describe('looking up', () => {
  const lookUp = (token: string) => app.http.post('/api/workspaces/join/look-up', undefined, { token });
  /** A link that the admin has created: the owner created the one with which the members have joined. */
  async function createLink({ path, admin }: Team): Promise<string> {
    await app.http.delete(`${path}/invite`, admin.token);
    return (await app.http.post(`${path}/invite`, admin.token)).body.token;
  }

  test('says which workspace, and who invited, without an address, until the link is revoked', async () => {
    const own = await addTeam(app, 'Editors');
    const token = await createLink(own);
    const set = { color: '#0f766e', privacy_url: 'https://example.com/privacy', language: 'fr' } as const;
    const { branding } = (await app.http.patch(`${own.path}/branding`, own.owner.token, set)).body;
    expect(branding).toMatchObject(set);
    const preview = { workspace_name: 'Editors', is_personal: 0, owner_name: own.owner.name, branding };
    expect(await lookUp(token)).toMatchObject({ status: 200 });
    expect((await lookUp(token)).body).toEqual({ invite: { ...preview, invited_by_name: own.admin.name } });
    // The owner answers for the link of somebody who may no longer invite.
    await app.http.patch(`${own.path}/members/${own.admin.id}`, own.owner.token, { role: 'member' });
    expect((await lookUp(token)).body).toEqual({ invite: { ...preview, invited_by_name: own.owner.name } });
    await app.http.delete(`${own.path}/invite`, own.owner.token);
    expect(await lookUp(token)).toMatchObject({ status: 404, body: { message: 'Invite not found' } });
  });

  test('works for the link of an account that was deleted, and in the same way for a new link', async () => {
    const own = await addTeam(app, 'Printers');
    const token = await createLink(own);
    await app.http.delete('/api/auth/me', own.admin.token);
    const { status, body } = await lookUp(token);
    expect([status, status === 200 ? body.invite.invited_by_name : null]).toEqual([200, own.owner.name]);
    await app.http.delete(`${own.path}/invite`, own.owner.token);
    const next = (await app.http.post(`${own.path}/invite`, own.owner.token)).body;
    expect((await lookUp(next.token)).body.invite.invited_by_name).toBe(own.owner.name);
  });
});
