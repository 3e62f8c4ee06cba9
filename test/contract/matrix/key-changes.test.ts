/** What changes a key or its creator counts from the very next request. */
import { beforeEach, describe, expect, test } from 'vitest';
import { addKey } from '../scene.ts';
import { transports } from '../transports.ts';
import { callAs, findRow, startMatrix } from './start-matrix.ts';

const matrix = startMatrix();

describe.each(transports)('through %s, the next request of a key is refused or admitted after', (_, transport) => {
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

  test('it is switched off, and on again', async () => {
    const { app, scene } = matrix();
    await app.http.patch(toggle(), scene.owner.token, { is_active: 0 });
    expect(await statuses()).toEqual([401, 401]);
    await app.http.patch(toggle(), scene.owner.token);
    expect(await statuses()).toEqual([200, 200]);
  });

  test('it is deleted', async () => {
    const { app, scene } = matrix();
    await app.http.delete(toggle(), scene.owner.token);
    expect(await statuses()).toEqual([401, 401]);
  });

  test('its creator is removed. It stays off when they join again, and can be switched on only then', async () => {
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

  test('its creator is demoted', async () => {
    const { app, scene } = matrix();
    await app.http.patch(`${path()}/members/${scene.admin.id}`, scene.owner.token, { role: 'member' });
    expect(await statuses()).toEqual([200, 200]);
    const input = { id: scene.workspaceId };
    for (const token of [key.key, scene.admin.token])
      expect((await transport(app, { name: 'webhooks.list', token, input })).status).toBe(403);
  });

  test('its creator deletes their account', async () => {
    const { app, scene } = matrix();
    const { status } = await app.http.delete('/api/auth/me', scene.admin.token);
    expect(status).toBe(200);
    expect(await statuses()).toEqual([401, 401]);
    expect((await callAs(matrix(), transport, 'labels.list', 'admin')).status).toBe(401);
  });
});
