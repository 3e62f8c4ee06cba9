/** A change of a key or its creator takes effect on the very next request. */
import { beforeEach, describe, expect, test } from 'vitest';
import { PASSWORD } from '../../support/world.ts';
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

  test('a key whose creator was removed is rejected for good, even after they join again', async () => {
    const { app, scene } = matrix();
    await app.http.delete(`${path()}/members/${scene.admin.id}`, scene.owner.token);
    expect(await statuses()).toEqual([401, 401]);
    expect((await callAs(matrix(), transport, 'labels.list', 'admin')).status).toBe(403);
    const input = { id: scene.workspaceId, keyId: key.id };
    const activate = async (state: object): Promise<void> => {
      const call = { name: 'apiKeys.toggle', token: scene.owner.token, input: { ...input, ...state } };
      const message = 'This API key was revoked: create a new one';
      expect(await transport(app, call)).toMatchObject({ status: 409, body: { message } });
      expect(await statuses()).toEqual([401, 401]);
    };
    for (const state of [{ is_active: 1 }, { toggle: true }, {}]) await activate(state);
    await app.http.patch(toggle(), scene.owner.token, { is_active: 0 });
    const { body } = await app.http.post(`${path()}/invite`, scene.owner.token);
    expect((await app.http.post(`/api/workspaces/join/${body.token}`, scene.admin.token)).status).toBe(200);
    expect(await statuses()).toEqual([401, 401]);
    for (const state of [{ is_active: true }, { toggle: true }, {}]) await activate(state);
  });

  test('a key loses the permissions that its creator loses', async () => {
    const { app, scene } = matrix();
    await app.http.patch(`${path()}/members/${scene.admin.id}`, scene.owner.token, { role: 'member' });
    expect(await statuses()).toEqual([200, 200]);
    const input = { id: scene.workspaceId };
    for (const token of [key.key, scene.admin.token])
      expect((await transport(app, { name: 'webhooks.list', token, input })).status).toBe(403);
  });

  test('a key is revoked if its creator changes their password with end_api_keys', async () => {
    const { app, scene } = matrix();
    const change = async (end_api_keys: boolean, passwords: [string, string]) => {
      const [current_password, password] = passwords;
      const input = { password, current_password, end_api_keys };
      return transport(app, { name: 'auth.updateMe', token: scene.admin.token, input });
    };
    expect((await change(false, [PASSWORD, 'another password'])).status).toBe(200);
    expect(await statuses()).toEqual([200, 200]);
    expect((await change(true, ['another password', PASSWORD])).status).toBe(200);
    expect(await statuses()).toEqual([401, 401]);
    expect((await app.http.patch(toggle(), scene.owner.token, { is_active: 1 })).status).toBe(409);
    expect((await callAs(matrix(), transport, 'labels.list', 'key of the owner')).status).toBe(200);
  });

  test('a key is rejected once its creator deletes their account', async () => {
    const { app, scene } = matrix();
    const { status } = await app.http.delete('/api/auth/me', scene.admin.token);
    expect(status).toBe(200);
    expect(await statuses()).toEqual([401, 401]);
    expect((await callAs(matrix(), transport, 'labels.list', 'admin')).status).toBe(401);
  });
});
