/** Which refusal comes first: 401, 404 for the workspace, 403, 400, 404 for a child, 409. Through both transports. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAtLeast, type Role } from '../../src/core/roles.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { rows } from './operations.ts';
import { type Child, isNamedByText, workspaceOf } from './row.ts';
import { createWorld, type Scene } from './scene.ts';
import { type Input, isQuery, operationOf, transports, viaRest, viaTrpc } from './transports.ts';

let app: TestApp;
let scene: Scene;
beforeAll(async () => {
  app = await startTestApp();
  scene = await (await createWorld(app)).addScene();
});
afterAll(() => app.close());

const UNKNOWN = 2_147_483_647;

describe.each(transports)('through %s', (_, transport) => {
  const update = async (token: string | undefined, input: Input): Promise<[number, unknown]> => {
    const { status, body } = await transport(app, { name: 'labels.update', token, input });
    return [status, (body as { message?: string }).message];
  };
  const allWrong = { id: UNKNOWN, labelId: UNKNOWN, name: '' };

  test('401 comes before everything', async () => {
    expect(await update(undefined, allWrong)).toEqual([401, 'Unauthorized']);
    expect(await update(undefined, { ...allWrong, id: 'abc' })).toEqual([401, 'Unauthorized']);
  });

  test('404 for the workspace comes before 403 and 400', async () => {
    expect(await update(scene.outsider.token, allWrong)).toEqual([404, 'Workspace not found']);
  });

  test('403 comes before 400, 404 for a child and 409', async () => {
    const forbidden = [403, 'Only owners and admins can update labels'];
    for (const { token } of [scene.outsider, scene.member]) {
      expect(await update(token, { ...allWrong, id: scene.workspaceId })).toEqual(forbidden);
      expect(await update(token, { id: scene.workspaceId, labelId: 'abc' })).toEqual(forbidden);
      expect(await update(token, { id: scene.workspaceId, labelId: scene.redId, name: 'Blue' })).toEqual(forbidden);
    }
  });

  test('400 comes before 404 for a child', async () => {
    const input = { ...allWrong, id: scene.workspaceId };
    expect(await update(scene.admin.token, input)).toEqual([400, 'Name is required']);
  });

  test('404 for a child comes before 409', async () => {
    const input = { id: scene.workspaceId, labelId: UNKNOWN, name: 'Blue' };
    expect(await update(scene.admin.token, input)).toEqual([404, 'Label not found']);
  });

  const people: readonly Role[] = ['member', 'admin', 'owner'];
  // The workspace of a new room stands in its body: who may use it is asked once the body is right.
  const inPath = Object.entries(rows).flatMap(([name, row]) => {
    const place = workspaceOf(row);
    return place === null || row.workspace === 'workspace_id' ? [] : [[name, row, place] as const];
  });

  test.each(inPath)('%s refuses what is wrong in every way in that order', async (name, row, { min, parameter }) => {
    const children = Object.keys(row.children ?? {}) as Child[];
    const unknown = Object.fromEntries(children.map((child) => [child, isNamedByText(child) ? 'unknown' : UNKNOWN]));
    const [wrong] = row.wrong ?? [];
    const refusal = async (token: string | undefined, more: Input): Promise<[number, unknown]> => {
      const input = { ...row.input(scene, scene.member), ...unknown, ...wrong?.input, ...more };
      const { status, body } = await transport(app, { name, token, input });
      return [status, (body as { message?: string }).message];
    };
    const forbidden = [403, row.forbidden ?? 'Forbidden'];
    expect(await refusal(undefined, { [parameter]: UNKNOWN })).toEqual([401, 'Unauthorized']);
    expect(await refusal(scene.outsider.token, { [parameter]: UNKNOWN })).toEqual([404, 'Workspace not found']);
    expect(await refusal(scene.outsider.token, {})).toEqual(forbidden);
    for (const role of people.filter((one) => !isAtLeast(one, min)))
      expect(await refusal(scene[role].token, {})).toEqual(forbidden);
    if (wrong) expect(await refusal(scene[min].token, {})).toEqual([400, wrong.message]);
    const [child] = children;
    if (wrong && child) {
      const right = row.input(scene, scene.member);
      const restored = Object.fromEntries(Object.keys(wrong.input).map((field) => [field, right[field]]));
      expect(await refusal(scene[min].token, restored)).toEqual([404, row.children?.[child]]);
    }
  });

  test('rooms.create: 401, 400, 404 for the workspace, 403, 409', async () => {
    const create = async (token: string | undefined, input: Input): Promise<[number, unknown]> => {
      const { status, body } = await transport(app, { name: 'rooms.create', token, input });
      return [status, (body as { message?: string }).message];
    };
    const taken = { workspace_id: scene.workspaceId, name: scene.roomName };
    expect(await create(undefined, { workspace_id: UNKNOWN, name: '' })).toEqual([401, 'Unauthorized']);
    expect(await create(scene.member.token, { workspace_id: UNKNOWN, name: '' })).toEqual([400, 'Invalid room name']);
    expect(await create(scene.member.token, { ...taken, workspace_id: UNKNOWN })).toEqual([404, 'Workspace not found']);
    expect(await create(scene.member.token, taken)).toEqual([403, 'Forbidden']);
    expect(await create(scene.admin.token, taken)).toEqual([409, 'Room name already taken']);
  });

  test('of the item and the label of an assignment, the item is looked for first', async () => {
    const input = { id: scene.workspaceId, itemId: UNKNOWN, labelId: UNKNOWN };
    for (const name of ['library.assignLabel', 'library.unassignLabel'])
      expect(await transport(app, { name, token: scene.member.token, input })).toMatchObject({
        status: 404,
        body: { message: 'Item not found' },
      });
  });
});

describe('a body that cannot be read is complained about only to who is allowed here', () => {
  const broken = { body: '{"name":', headers: { 'content-type': 'application/json' } };

  test.each([
    ['nobody', 401],
    ['outsider', 403],
    ['member', 403],
    ['admin', 400],
  ] as const)('%s: %i', async (person, status) => {
    const token = person === 'nobody' ? undefined : scene[person].token;
    const rest = await app.http.call('POST', `/api/workspaces/${scene.workspaceId}/labels`, { token, ...broken });
    expect(rest.status).toBe(status);
    if (person !== 'nobody') {
      const unknown = await app.http.call('POST', `/api/workspaces/${UNKNOWN}/labels`, { token, ...broken });
      expect(unknown.status).toBe(404);
    }
  });

  const mutations = Object.entries(rows).filter(([name, { who }]) => who !== 'anyone' && !isQuery(name));

  test.each(mutations)('%s: 401 to nobody, through both transports', async (name, row) => {
    const { method, path } = operationOf(name);
    const input = row.input(scene, scene.owner);
    const url = path.replace(/\{(\w+)\}/g, (_, parameter: string) => String(input[parameter]));
    expect((await app.http.call(method, url, broken)).status).toBe(401);
    expect((await app.http.call('POST', `/trpc/${name}`, broken)).status).toBe(401);
  });

  test('in tRPC the workspace stands in that body: 401 for nobody, 400 for anyone else', async () => {
    for (const [token, status] of [[undefined, 401] as const, [scene.outsider.token, 400] as const])
      expect((await app.http.call('POST', '/trpc/labels.create', { token, ...broken })).status).toBe(status);
  });

  test('text that is a valid call otherwise is one', async () => {
    for (const transport of [viaRest, viaTrpc]) {
      const input = { id: scene.workspaceId, name: `Through ${transport.name}` };
      expect((await transport(app, { name: 'labels.create', token: scene.admin.token, input })).status).toBe(200);
    }
  });
});
