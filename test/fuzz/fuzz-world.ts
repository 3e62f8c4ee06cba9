/** The world that the requests are sent to, with a workspace that nobody in it may reach. */
import { type Caller, type CallerName, createCallers } from '../contract/matrix/callers.ts';
import { type Restorer, saveRows } from '../contract/restore.ts';
import { createWorld, type Scene, type User } from '../contract/scene.ts';
import { addItem, addKey, addWebhook, succeed } from '../contract/scene-content.ts';
import type { Input } from '../contract/transports.ts';
import { dumpTables } from '../support/dump.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

/** Part of all names in the workspace that nobody may reach, except that of its room. No answer may contain it. */
export const SECRET_MARK = 'vault7c1fe';

/** The workspace that nobody may reach. */
type Vault = {
  workspaceId: number;
  /** Its content, by the names of the input fields. */
  children: Input;
};

// Without the mark, because a request may name something of its own like this, and the answer then contains the name.
const ROOM_NAME = 'hidden-room';

export type FuzzWorld = {
  app: TestApp;
  scene: Scene;
  callers: Record<CallerName, Caller>;
  vault: Vault;
  restorer: Restorer;
  /** The rows of the workspace that nobody may reach, as text. */
  dumpVault(): Promise<string>;
  close(): Promise<void>;
};

// Frozen, so that equal requests write equal rows.
const FROZEN_AT = new Date('2026-06-15T12:00:00Z');

export async function startFuzzWorld(): Promise<FuzzWorld> {
  const app = await startTestApp({ frozenAt: FROZEN_AT });
  const world = await createWorld(app);
  const scene = await world.addScene();
  const callers = await createCallers(world, scene);
  const owner = await world.addUser(SECRET_MARK);
  const vault = await addVault(app, owner);
  const restorer = await saveRows(app);
  return {
    app,
    scene,
    callers,
    vault,
    restorer,
    async dumpVault() {
      const rows = Object.entries(await dumpTables(app)).flatMap(([table, all]) =>
        all
          .filter((row) => row.workspace_id === vault.workspaceId || JSON.stringify(row).includes(SECRET_MARK))
          .map((row) => `${table} ${JSON.stringify(row)}`),
      );
      return rows.join('\n');
    },
    async close() {
      await restorer.close();
      await app.close();
    },
  };
}

async function addVault(app: TestApp, owner: User): Promise<Vault> {
  const { workspace } = succeed(await app.http.post('/api/workspaces', owner.token, { name: SECRET_MARK }));
  const path = `/api/workspaces/${workspace.id}`;
  const name = SECRET_MARK;
  const { label } = succeed(await app.http.post(`${path}/labels`, owner.token, { name }));
  succeed(
    await app.http.post('/api/dashboard/rooms', owner.token, {
      name: ROOM_NAME,
      display_name: name,
      workspace_id: workspace.id,
    }),
  );
  const { recording } = succeed(
    await app.http.post(`/api/dashboard/rooms/${ROOM_NAME}/recordings`, owner.token, { archive_id: name }),
  );
  const itemId = await addItem(app, workspace.id, owner, `${name}.pdf`);
  const key = await addKey(app, workspace.id, owner);
  const { webhookId, messageId, deliveryId } = await addWebhook(app, workspace.id, owner);
  const children = {
    userId: owner.id,
    labelId: label.id,
    label: label.id,
    recordingId: recording.id,
    itemId,
    keyId: key.id,
    webhookId,
    messageId,
    deliveryId,
    name: ROOM_NAME,
  };
  return { workspaceId: workspace.id, children };
}
