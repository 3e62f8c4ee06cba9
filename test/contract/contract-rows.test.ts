/**
 * The tables of the API contract for workspaces, members, labels, the library and retention, row by row: method, path,
 * who may call it, its input, exactly which fields it returns, and each listed error with its status and text. The
 * tests in operations/ compare both transports.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { expectError, fields, isUnixSeconds } from './expectations.ts';
import { createWorld, type Scene, type World } from './scene.ts';

let app: TestApp;
let world: World;
let scene: Scene;
beforeAll(async () => {
  app = await startTestApp();
  world = await createWorld(app);
});
afterAll(() => app.close());

async function newScene(): Promise<string> {
  scene = await world.addScene();
  return `/api/workspaces/${scene.workspaceId}`;
}

const WORKSPACE_SUMMARY = ['created_at', 'id', 'is_personal', 'name', 'owner_id', 'owner_name', 'slug'];
const WORKSPACE = ['created_at', 'embed_origins', 'id', 'is_personal', 'media_retention_days', 'name', 'owner_id']
  .concat('role', 'slug')
  .sort();
/** The fields of the contract, and `email_verified`, an addition. */
const MEMBER = ['email', 'email_verified', 'id', 'joined_at', 'name', 'role'];
const LISTED_LABEL = ['color', 'created_at', 'created_by_name', 'id', 'name'];
const LABEL = [...LISTED_LABEL, 'created_by', 'workspace_id'].sort();
const ITEM_LABEL = ['color', 'id', 'name'];
const ITEM = [
  'created_at',
  'description',
  'duration',
  'file_url',
  'id',
  'labels',
  'mime_type',
  'name',
  'poster_url',
  'size',
  'updated_at',
  'uploaded_by',
  'uploaded_by_name',
  'workspace_id',
];

describe('workspaces', () => {
  test('GET /api/workspaces lists the workspaces of the caller, Personal first', async () => {
    await newScene();
    const { status, body } = await app.http.get('/api/workspaces', scene.member.token);
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['workspaces']);
    for (const workspace of body.workspaces) expect(fields(workspace)).toEqual(WORKSPACE_SUMMARY);
    const mine = body.workspaces.find(({ id }: { id: number }) => id === scene.workspaceId);
    const { user: owner } = (await app.http.get('/api/auth/me', scene.owner.token)).body;
    const team = { name: 'Team', is_personal: 0, owner_id: scene.owner.id, owner_name: owner.name };
    expect(mine).toMatchObject(team);
    expect(isUnixSeconds(mine.created_at)).toBe(true);
    expect(body.workspaces[0]).toMatchObject({ name: 'Personal', is_personal: 1, owner_id: scene.member.id });
  });

  test('POST /api/workspaces creates a workspace that the caller owns', async () => {
    await newScene();
    const { status, body } = await app.http.post('/api/workspaces', scene.member.token, { name: 'Mine' });
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['workspace']);
    expect(fields(body.workspace)).toEqual(WORKSPACE);
    expect(body.workspace).toMatchObject({
      name: 'Mine',
      owner_id: scene.member.id,
      media_retention_days: null,
      role: 'owner',
      is_personal: 0,
    });
  });

  test('GET /api/workspaces/:id returns the workspace and its members, in order of joining', async () => {
    const path = await newScene();
    const { status, body } = await app.http.get(path, scene.admin.token);
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['workspace']);
    expect(fields(body.workspace)).toEqual([...WORKSPACE, 'members'].sort());
    expect(body.workspace).toMatchObject({ id: scene.workspaceId, name: 'Team', role: 'admin', is_personal: 0 });
    for (const member of body.workspace.members) {
      expect(fields(member)).toEqual(MEMBER);
      expect(isUnixSeconds(member.joined_at)).toBe(true);
    }
    expect(
      body.workspace.members.map(({ id, name, email, role }: Record<string, unknown>) => ({ id, name, email, role })),
    ).toEqual(
      (['owner', 'admin', 'member'] as const).map((role) => {
        const { id, name, email } = scene[role];
        return { id, name, email, role };
      }),
    );
  });

  test('PATCH /api/workspaces/:id renames the workspace and keeps its slug, for the owner only', async () => {
    const path = await newScene();
    const before = await app.http.get(path, scene.owner.token);
    const { status, body } = await app.http.patch(path, scene.owner.token, { name: 'New name' });
    expect(status).toBe(200);
    const { members, ...workspace } = before.body.workspace;
    expect(body).toEqual({ workspace: { ...workspace, name: 'New name' } });
    expectError(await app.http.patch(path, scene.admin.token, { name: 'No' }), 403, 'Forbidden');
  });

  test('DELETE /api/workspaces/:id is for the owner only, and rejects the Personal workspace', async () => {
    const path = await newScene();
    expectError(await app.http.delete(path, scene.admin.token), 403, 'Forbidden');
    expect(await app.http.delete(path, scene.owner.token)).toMatchObject({ status: 200, body: { ok: true } });
    expectError(await app.http.get(path, scene.owner.token), 404, 'Workspace not found');
    const { body } = await app.http.get('/api/workspaces', scene.owner.token);
    const personal = `/api/workspaces/${body.workspaces[0].id}`;
    const refusal = await app.http.delete(personal, scene.owner.token);
    expectError(refusal, 400, 'The Personal workspace cannot be deleted');
    expectError(await app.http.delete(personal, scene.member.token), 403, 'Forbidden');
  });

  test('POST /api/workspaces/:id/invite returns the token and its URL to owners and admins', async () => {
    const path = await newScene();
    for (const { token } of [scene.owner, scene.admin]) {
      const { status, body } = await app.http.post(`${path}/invite`, token);
      expect(status).toBe(200);
      expect(body).toEqual({ token: scene.inviteToken, url: `${app.url}/join/${scene.inviteToken}` });
    }
    expectError(await app.http.post(`${path}/invite`, scene.member.token), 403, 'Forbidden');
  });

  test('POST /api/workspaces/join/:token adds the caller as a member; an unknown token is 404', async () => {
    await newScene();
    const guest = await world.addUser('Guest');
    const { status, body } = await app.http.post(`/api/workspaces/join/${scene.inviteToken}`, guest.token);
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['workspace']);
    expect(fields(body.workspace)).toEqual(WORKSPACE);
    expect(body.workspace).toMatchObject({ id: scene.workspaceId, role: 'member' });
    for (const token of ['A'.repeat(32), 'short', '%00', '%F0%9F%90%88', 'x'.repeat(4_000)])
      expectError(await app.http.post(`/api/workspaces/join/${token}`, guest.token), 404, 'Invite not found');
  });

  test('PATCH /api/workspaces/:id/members/:userId changes the role of a member', async () => {
    const path = await newScene();
    const member = `${path}/members/${scene.member.id}`;
    const { status, body } = await app.http.patch(member, scene.admin.token, { role: 'admin' });
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['member']);
    expect(fields(body.member)).toEqual(MEMBER);
    expect(body.member).toMatchObject({ id: scene.member.id, email: scene.member.email, role: 'admin' });
    const outsider = `${path}/members/${scene.outsider.id}`;
    expectError(await app.http.patch(outsider, scene.owner.token, { role: 'admin' }), 404, 'Member not found');
  });

  test('DELETE /api/workspaces/:id/members/:userId removes a member', async () => {
    const path = await newScene();
    const answer = await app.http.delete(`${path}/members/${scene.member.id}`, scene.owner.token);
    expect(answer).toMatchObject({ status: 200, body: { ok: true } });
    expectError(await app.http.get(path, scene.member.token), 403, 'Forbidden');
  });
});

describe('labels', () => {
  test('GET labels lists the labels for any member, in the order of their creation', async () => {
    const path = await newScene();
    const { status, body } = await app.http.get(`${path}/labels`, scene.member.token);
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['labels']);
    for (const label of body.labels) {
      expect(fields(label)).toEqual(LISTED_LABEL);
      expect(isUnixSeconds(label.created_at)).toBe(true);
    }
    expect(body.labels).toMatchObject([
      { id: scene.redId, name: 'Red', color: '#6366f1', created_by_name: 'Adam' },
      { id: scene.blueId, name: 'Blue', color: '#6366f1', created_by_name: 'Olive' },
    ]);
  });

  test('POST labels creates a label for owners and admins, with the default color #6366f1', async () => {
    const path = await newScene();
    for (const by of [scene.owner, scene.admin]) {
      const { status, body } = await app.http.post(`${path}/labels`, by.token, { name: by.name });
      expect(status).toBe(200);
      expect(fields(body)).toEqual(['label']);
      expect(fields(body.label)).toEqual(LABEL);
      expect(body.label).toMatchObject({
        name: by.name,
        color: '#6366f1',
        created_by: by.id,
        created_by_name: by.name,
        workspace_id: scene.workspaceId,
      });
    }
  });

  test('POST labels rejects a missing name with 400, a member with 403 and a duplicate name with 409', async () => {
    const path = `${await newScene()}/labels`;
    expectError(await app.http.post(path, scene.owner.token, {}), 400, 'Name is required');
    expectError(await app.http.post(path, scene.owner.token), 400, 'Name is required');
    const forbidden = 'Only owners and admins can create labels';
    expectError(await app.http.post(path, scene.member.token, { name: 'New' }), 403, forbidden);
    const taken = 'A label with this name already exists';
    expectError(await app.http.post(path, scene.owner.token, { name: 'Red' }), 409, taken);
  });

  test('PATCH label updates a label, and returns 403 to members, 404 if unknown, 409 if taken', async () => {
    const path = `${await newScene()}/labels`;
    const red = `${path}/${scene.redId}`;
    const { status, body } = await app.http.patch(red, scene.admin.token, { name: 'Crimson', color: '#dc143c' });
    expect(status).toBe(200);
    expect(fields(body.label)).toEqual(LABEL);
    expect(body.label).toMatchObject({ id: scene.redId, name: 'Crimson', color: '#dc143c' });
    const forbidden = 'Only owners and admins can update labels';
    expectError(await app.http.patch(red, scene.member.token, { name: 'No' }), 403, forbidden);
    expectError(await app.http.patch(`${path}/2147483647`, scene.owner.token, {}), 404, 'Label not found');
    const taken = 'A label with this name already exists';
    expectError(await app.http.patch(red, scene.owner.token, { name: 'Blue' }), 409, taken);
  });

  test('DELETE label removes it from items too, and returns 403 to members, 404 if unknown', async () => {
    const path = await newScene();
    const red = `${path}/labels/${scene.redId}`;
    const forbidden = 'Only owners and admins can delete labels';
    expectError(await app.http.delete(red, scene.member.token), 403, forbidden);
    expect(await app.http.delete(red, scene.admin.token)).toMatchObject({ status: 200, body: { ok: true } });
    const item = await app.http.get(`${path}/library/${scene.itemId}`, scene.member.token);
    expect(item.body.item.labels).toEqual([]);
    expectError(await app.http.delete(red, scene.owner.token), 404, 'Label not found');
  });
});

describe('media library', () => {
  test('GET library returns the total and the items, without file_key', async () => {
    const path = await newScene();
    const { status, body } = await app.http.get(`${path}/library`, scene.member.token);
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['items', 'total']);
    expect(body.total).toBe(1);
    const [item] = body.items;
    expect(fields(item)).toEqual(ITEM);
    expect(item).toMatchObject({
      id: scene.itemId,
      workspace_id: scene.workspaceId,
      uploaded_by: scene.member.id,
      uploaded_by_name: 'Mia',
      name: 'contract.pdf',
      description: '',
      file_url: null,
      mime_type: 'application/pdf',
      duration: null,
      labels: [{ id: scene.redId, name: 'Red', color: '#6366f1' }],
    });
    expect(fields(item.labels[0])).toEqual(ITEM_LABEL);
    expect(isUnixSeconds(item.created_at)).toBe(true);
    expect(item.updated_at).toBe(item.created_at);
    const one = await app.http.get(`${path}/library/${scene.itemId}`, scene.member.token);
    expect(one.body).toEqual({ item });
  });

  test('GET download returns a URL that expires in 15 minutes', async () => {
    const path = await newScene();
    const { status, body } = await app.http.get(`${path}/library/${scene.itemId}/download`, scene.member.token);
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['expires_at', 'url']);
    expect(Math.abs(body.expires_at - Date.now() / 1000 - 900)).toBeLessThan(30);
    const unknown = await app.http.get(`${path}/library/2147483647/download`, scene.member.token);
    expectError(unknown, 404, 'Item not found');
  });

  test('PATCH item changes name and description for any member, and rejects an empty name with 400', async () => {
    const path = await newScene();
    const item = `${path}/library/${scene.itemId}`;
    const { status, body } = await app.http.patch(item, scene.member.token, { name: 'A.pdf', description: 'B' });
    expect(status).toBe(200);
    expect(fields(body.item)).toEqual(ITEM);
    expect(body.item).toMatchObject({ name: 'A.pdf', description: 'B', labels: [{ id: scene.redId }] });
    expectError(await app.http.patch(item, scene.member.token, { name: '' }), 400, 'Name cannot be empty');
  });

  test('DELETE item deletes the item for any member', async () => {
    const path = await newScene();
    const item = `${path}/library/${scene.itemId}`;
    expect(await app.http.delete(item, scene.member.token)).toMatchObject({ status: 200, body: { ok: true } });
    expectError(await app.http.delete(item, scene.member.token), 404, 'Item not found');
  });

  test('POST item labels returns all labels of the item, and rejects an invalid labelId', async () => {
    const path = `${await newScene()}/library/${scene.itemId}/labels`;
    const { status, body } = await app.http.post(path, scene.member.token, { labelId: scene.blueId });
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['labels']);
    expect(body.labels.map(fields)).toEqual([ITEM_LABEL, ITEM_LABEL]);
    expect(body.labels).toMatchObject([{ id: scene.redId }, { id: scene.blueId }]);
    expectError(await app.http.post(path, scene.member.token, {}), 400, 'labelId is required');
    expectError(await app.http.post(path, scene.member.token), 400, 'labelId is required');
    expectError(await app.http.post(path, scene.member.token, { labelId: 2_147_483_647 }), 404, 'Label not found');
  });

  test('DELETE item label returns the remaining labels', async () => {
    const path = `${await newScene()}/library/${scene.itemId}/labels`;
    await app.http.post(path, scene.member.token, { labelId: scene.blueId });
    const { status, body } = await app.http.delete(`${path}/${scene.redId}`, scene.member.token);
    expect(status).toBe(200);
    expect(body).toEqual({ labels: [{ id: scene.blueId, name: 'Blue', color: '#6366f1' }] });
  });
});

describe('retention policy', () => {
  const REFUSAL = 'media_retention_days must be one of 7, 30, 60, 90, 180, 365 or null';

  test('GET /api/workspaces/:id/retention is for the owner only, and returns null at first', async () => {
    const path = `${await newScene()}/retention`;
    const { status, body } = await app.http.get(path, scene.owner.token);
    expect(status).toBe(200);
    expect(body).toEqual({ media_retention_days: null });
    for (const { token } of [scene.admin, scene.member, scene.outsider])
      expectError(await app.http.get(path, token), 403, 'Forbidden');
  });

  test('PATCH /api/workspaces/:id/retention sets or disables the policy, for the owner only', async () => {
    const workspace = await newScene();
    const path = `${workspace}/retention`;
    for (const days of [7, 30, 60, 90, 180, 365, null]) {
      const answer = await app.http.patch(path, scene.owner.token, { media_retention_days: days });
      expect(answer).toMatchObject({ status: 200, body: { media_retention_days: days } });
      expect(fields(answer.body)).toEqual(['media_retention_days']);
      expect((await app.http.get(path, scene.owner.token)).body).toEqual({ media_retention_days: days });
      expect((await app.http.get(workspace, scene.owner.token)).body.workspace.media_retention_days).toBe(days);
    }
    const week = { media_retention_days: 7 };
    for (const { token } of [scene.admin, scene.member, scene.outsider])
      expectError(await app.http.patch(path, token, week), 403, 'Forbidden');
  });

  test('PATCH retention rejects any other integer and a missing value with 400', async () => {
    const path = `${await newScene()}/retention`;
    for (const days of [0, 1, 6, 8, 14, 29, 31, 364, 366, -7, 2_147_483_648, undefined])
      expectError(await app.http.patch(path, scene.owner.token, { media_retention_days: days }), 400, REFUSAL);
    expectError(await app.http.patch(path, scene.owner.token), 400, REFUSAL);
    expect((await app.http.get(path, scene.owner.token)).body).toEqual({ media_retention_days: null });
  });
});
