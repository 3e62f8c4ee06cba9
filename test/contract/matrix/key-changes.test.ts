/** A change of a key or its creator takes effect on the very next request. */
import { beforeEach, describe, expect, test } from 'vitest';
import { addKey } from '../scene.ts';
import { transports } from '../transports.ts';
import { callAs, findRow, startMatrix } from './start-matrix.ts';

const matrix = startMatrix();

describe.each(transports)('over %s', (_, transport) => {
  let key: { id: number; key: string };

  const path = (): string => `/api/workspaces/${matrix().scene.workspaceId}`;
  const toggle = (): string => `${path()}/api-keys/${key.id}`;

  /** The statuses of a read and a write by the key. */
  const statuses = async (): Promise<number[]> => {
    const { app, scene } = matrix();
    const read = { name: 'labels.list', token: key.key, input: { id: scene.workspaceId } };
    const input = { ...findRow('library.update').input(scene, scene.admin), name: 'By key' };
    const write = { name: 'library.update', token: key.key, input };
    return [(await transport(app, read)).status, (await transport(app, write)).status];
  };

  beforeEach(async () => {
    const { app, scene } = matrix();
    key = await addKey(app, scene.workspaceId, scene.admin);
    expect(await statuses()).toEqual([200, 200]);
  });

  test('a key is rejected once it is deactivated, and accepted once it is activated again', async () => {
    const { app, scene } = matrix();
    await app.http.patch(toggle(), scene.owner.token, { is_active: 0 });
    expect(await statuses()).toEqual([401, 401]);
    await app.http.patch(toggle(), scene.owner.token);
    expect(await statuses()).toEqual([200, 200]);
  });

  test('a key is rejected once it is deleted', async () => {
    const { app, scene } = matrix();
    await app.http.delete(toggle(), scene.owner.token);
    expect(await statuses()).toEqual([401, 401]);
  });

  test('a key whose creator was removed works only after they join again and it is activated', async () => {
    const { app, scene } = matrix();
    await app.http.delete(`${path()}/members/${scene.admin.id}`, scene.owner.token);
    expect(await statuses()).toEqual([401, 401]);
    expect((await callAs(matrix(), transport, 'labels.list', 'admin')).status).toBe(403);
    await app.http.patch(toggle(), scene.owner.token, { is_active: 1 });
    expect(await statuses()).toEqual([401, 401]);
    await app.http.patch(toggle(), scene.owner.token, { is_active: 0 });
    await app.http.post(`/api/workspaces/join/${scene.inviteToken}`, scene.admin.token);
    expect(await statuses()).toEqual([401, 401]);
    await app.http.patch(toggle(), scene.owner.token, { is_active: 1 });
    expect(await statuses()).toEqual([200, 200]);
  });

  test('a key loses the permissions that its creator loses', async () => {
    const { app, scene } = matrix();
    await app.http.patch(`${path()}/members/${scene.admin.id}`, scene.owner.token, { role: 'member' });
    expect(await statuses()).toEqual([200, 200]);
    const input = { id: scene.workspaceId };
    for (const token of [key.key, scene.admin.token])
      expect((await transport(app, { name: 'webhooks.list', token, input })).status).toBe(403);
  });

  test('a key is rejected once its creator deletes their account', async () => {
    const { app, scene } = matrix();
    const { status } = await app.http.delete('/api/auth/me', scene.admin.token);
    expect(status).toBe(200);
    expect(await statuses()).toEqual([401, 401]);
    expect((await callAs(matrix(), transport, 'labels.list', 'admin')).status).toBe(401);
  });
});
