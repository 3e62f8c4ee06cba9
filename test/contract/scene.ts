/**
 * Equal worlds: two applications on which the same calls are made one after another have the same rows under the same
 * ids. So what one door answers and leaves behind can be compared with the other door, field by field.
 */
import { makePdf } from '../support/media.ts';
import type { TestApp } from '../support/test-app.ts';
import { PASSWORD, upload } from '../support/world.ts';

export type Someone = { id: number; name: string; email: string; token: string };

/** A workspace with one person of each role, two labels and an item that carries the first; and the same elsewhere. */
export type Scene = {
  app: TestApp;
  /** Tells the scenes of one world apart. */
  number: number;
  workspaceId: number;
  owner: Someone;
  admin: Someone;
  member: Someone;
  outsider: Someone;
  redId: number;
  blueId: number;
  itemId: number;
  inviteToken: string;
  /** What another workspace has, whose owner is the outsider. */
  foreign: { workspaceId: number; labelId: number; itemId: number };
};

export type World = {
  app: TestApp;
  /** Another workspace with the same people. */
  addScene(): Promise<Scene>;
  addSomeone(name: string): Promise<Someone>;
};

const must = <Body>(answer: { status: number; body: Body }): Body => {
  if (answer.status !== 200) throw new Error(`Could not build the scene: ${JSON.stringify(answer)}`);
  return answer.body;
};

const registerIn = async (app: TestApp, name: string, email: string): Promise<Someone> => {
  const { user, token } = must(
    await app.http.post('/api/auth/register', undefined, { name, email, password: PASSWORD }),
  );
  return { id: user.id, name, email, token };
};

const addWorkspace = async (app: TestApp, owner: Someone, name: string): Promise<number> =>
  must(await app.http.post('/api/workspaces', owner.token, { name })).workspace.id;

const addLabel = async (app: TestApp, workspaceId: number, by: Someone, name: string): Promise<number> =>
  must(await app.http.post(`/api/workspaces/${workspaceId}/labels`, by.token, { name })).label.id;

const addItem = async (app: TestApp, workspaceId: number, by: Someone, filename: string): Promise<number> => {
  const bytes = Uint8Array.from(makePdf({ text: filename }));
  return must(await upload(app, `/api/workspaces/${workspaceId}`, by.token, bytes, { filename })).item.id;
};

/** Everything one after another: the order of the calls decides the ids. */
export const createWorld = async (app: TestApp): Promise<World> => {
  let registered = 0;
  const addSomeone = (name: string): Promise<Someone> => {
    registered += 1;
    return registerIn(app, name, `${name.toLowerCase()}${registered}@example.com`);
  };
  const owner = await addSomeone('Olive');
  const admin = await addSomeone('Adam');
  const member = await addSomeone('Mia');
  const outsider = await addSomeone('Otto');
  const otherId = await addWorkspace(app, outsider, 'Other');
  const foreign = {
    workspaceId: otherId,
    labelId: await addLabel(app, otherId, outsider, 'Foreign'),
    itemId: await addItem(app, otherId, outsider, 'foreign.pdf'),
  };
  let scenes = 0;
  return {
    app,
    addSomeone,
    async addScene() {
      scenes += 1;
      const workspaceId = await addWorkspace(app, owner, 'Team');
      const path = `/api/workspaces/${workspaceId}`;
      const { token: inviteToken } = must(await app.http.post(`${path}/invite`, owner.token));
      for (const { token } of [admin, member]) must(await app.http.post(`/api/workspaces/join/${inviteToken}`, token));
      must(await app.http.patch(`${path}/members/${admin.id}`, owner.token, { role: 'admin' }));
      const redId = await addLabel(app, workspaceId, admin, 'Red');
      const blueId = await addLabel(app, workspaceId, owner, 'Blue');
      const itemId = await addItem(app, workspaceId, member, 'contract.pdf');
      must(await app.http.post(`${path}/library/${itemId}/labels`, member.token, { labelId: redId }));
      const people = { owner, admin, member, outsider };
      return { app, number: scenes, workspaceId, ...people, redId, blueId, itemId, inviteToken, foreign };
    },
  };
};
