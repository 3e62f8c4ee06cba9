/** The order of checks over both transports: 401, 404 for the workspace, 403, 400, 404 for a resource in it, 409. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { wrongTypeOf } from './content.ts';
import { UNKNOWN_ID } from './invalid-values.ts';
import { rows } from './operations.ts';
import { type Child, contentOf, isNamedByText, type Row, requiredRole, rolesBelow } from './row.ts';
import { createWorld, type Scene } from './scene.ts';
import {
  type Content,
  findOperation,
  type Input,
  isQuery,
  isServed,
  transports,
  viaRest,
  viaTrpc,
} from './transports.ts';

let app: TestApp;
let scene: Scene;
beforeAll(async () => {
  app = await startTestApp();
  scene = await (await createWorld(app)).addScene();
});
afterAll(() => app.close());

type Refused = [status: number, message: string | undefined];

/** What is invalid in a call, besides its identifiers: fields of the input, or the type of a raw operation's body. */
type Invalid = { input: Input; content?: Content; refusal: Refused };

function findInvalid(name: string, row: Row): Invalid | undefined {
  const wrongType = wrongTypeOf(name);
  if (wrongType) return { input: {}, content: wrongType.content, refusal: [wrongType.status, wrongType.message] };
  const [wrong] = row.wrong ?? [];
  return wrong && { input: wrong.input, refusal: [400, wrong.message] };
}

describe.each(transports)('over %s', (_, transport) => {
  const refuse = async (name: string, token: string | undefined, input: Input, content?: Content): Promise<Refused> => {
    const { status, body } = await transport(app, { name, token, input, ...(content && { content }) });
    // Every refusal has a message, and a success has none.
    return [status, (body as { message?: string }).message];
  };
  const update = (token: string | undefined, input: Input) => refuse('labels.update', token, input);
  const allWrong = { id: UNKNOWN_ID, labelId: UNKNOWN_ID, name: '' };

  test('401 comes before every other error', async () => {
    expect(await update(undefined, allWrong)).toEqual([401, 'Unauthorized']);
    expect(await update(undefined, { ...allWrong, id: 'abc' })).toEqual([401, 'Unauthorized']);
  });

  test('404 for the workspace comes before 403 and 400', async () => {
    expect(await update(scene.outsider.token, allWrong)).toEqual([404, 'Workspace not found']);
  });

  test('403 comes before 400, 404 for a label and 409', async () => {
    const forbidden = [403, 'Only owners and admins can update labels'];
    for (const { token } of [scene.outsider, scene.member]) {
      expect(await update(token, { ...allWrong, id: scene.workspaceId })).toEqual(forbidden);
      expect(await update(token, { id: scene.workspaceId, labelId: 'abc' })).toEqual(forbidden);
      expect(await update(token, { id: scene.workspaceId, labelId: scene.redId, name: 'Blue' })).toEqual(forbidden);
    }
  });

  test('400 comes before 404 for a label', async () => {
    const input = { ...allWrong, id: scene.workspaceId };
    expect(await update(scene.admin.token, input)).toEqual([400, 'Name is required']);
  });

  test('404 for a label comes before 409', async () => {
    const input = { id: scene.workspaceId, labelId: UNKNOWN_ID, name: 'Blue' };
    expect(await update(scene.admin.token, input)).toEqual([404, 'Label not found']);
  });

  // A new room names its workspace in the body, so the role is checked once the body is valid.
  const inPath = Object.entries(rows).flatMap(([name, row]) => {
    const required = requiredRole(row);
    return required === null || row.workspace === 'workspace_id' || !isServed(name, transport)
      ? []
      : [[name, row, required] as const];
  });

  test.each(inPath)(
    '%s reports the errors of a call that has all of them in this order',
    async (name, row, required) => {
      const { min, parameter } = required;
      // `Object.keys` returns the keys as plain strings.
      const children = Object.keys(row.children ?? {}) as Child[];
      const unknown = Object.fromEntries(
        children.map((child) => [child, isNamedByText(child) ? 'unknown' : UNKNOWN_ID]),
      );
      const invalid = findInvalid(name, row);
      const refuseWith = (token: string | undefined, more: Input): Promise<Refused> => {
        const input = { ...row.input(scene, scene.member), ...unknown, ...invalid?.input, ...more };
        return refuse(name, token, input, invalid?.content);
      };
      const forbidden = [403, row.forbidden ?? 'Forbidden'];
      expect(await refuseWith(undefined, { [parameter]: UNKNOWN_ID })).toEqual([401, 'Unauthorized']);
      expect(await refuseWith(undefined, { [parameter]: 'abc' })).toEqual([401, 'Unauthorized']);
      expect(await refuseWith(scene.outsider.token, { [parameter]: UNKNOWN_ID })).toEqual([404, 'Workspace not found']);
      expect(await refuseWith(scene.outsider.token, {})).toEqual(forbidden);
      const refusal = row.checksHostLast && invalid ? invalid.refusal : forbidden;
      for (const role of rolesBelow(min)) expect(await refuseWith(scene[role].token, {})).toEqual(refusal);
      if (invalid) expect(await refuseWith(scene[min].token, {})).toEqual(invalid.refusal);
      const [child] = children;
      if (invalid && child) {
        const valid = row.input(scene, scene.member);
        const restored = Object.fromEntries(Object.keys(invalid.input).map((field) => [field, valid[field]]));
        const input = { ...valid, ...unknown, ...restored };
        const call = { name, token: scene[min].token, input, ...contentOf(row, scene) };
        const { status, body } = await transport(app, call);
        expect([status, (body as { message?: string }).message]).toEqual([404, row.children?.[child]]);
      }
    },
  );

  test('rooms.create checks in the order 401, 400, 404 for the workspace, 403, 409', async () => {
    const create = (token: string | undefined, input: Input) => refuse('rooms.create', token, input);
    const taken = { workspace_id: scene.workspaceId, name: scene.roomName };
    const invalid = { workspace_id: UNKNOWN_ID, name: '' };
    expect(await create(undefined, invalid)).toEqual([401, 'Unauthorized']);
    expect(await create(scene.member.token, invalid)).toEqual([400, 'Invalid room name']);
    expect(await create(scene.member.token, { ...taken, workspace_id: UNKNOWN_ID })).toEqual([
      404,
      'Workspace not found',
    ]);
    expect(await create(scene.member.token, taken)).toEqual([403, 'Forbidden']);
    expect(await create(scene.admin.token, taken)).toEqual([409, 'Room name already taken']);
  });

  test('an assignment with an unknown item and an unknown label reports the item', async () => {
    const input = { id: scene.workspaceId, itemId: UNKNOWN_ID, labelId: UNKNOWN_ID };
    for (const name of ['library.assignLabel', 'library.unassignLabel'])
      expect(await refuse(name, scene.member.token, input)).toEqual([404, 'Item not found']);
  });
});

describe('a malformed body is reported only to callers who may call the operation', () => {
  const broken = { body: '{"name":', headers: { 'content-type': 'application/json' } };

  test.each([
    ['anonymous', 401],
    ['outsider', 403],
    ['member', 403],
    ['admin', 400],
  ] as const)('%s gets %i', async (caller, status) => {
    const token = caller === 'anonymous' ? undefined : scene[caller].token;
    const rest = await app.http.call('POST', `/api/workspaces/${scene.workspaceId}/labels`, { token, ...broken });
    expect(rest.status).toBe(status);
    if (caller !== 'anonymous') {
      const unknown = await app.http.call('POST', `/api/workspaces/${UNKNOWN_ID}/labels`, { token, ...broken });
      expect(unknown.status).toBe(404);
    }
  });

  const mutations = Object.entries(rows).filter(([name, { who }]) => who !== 'anyone' && !isQuery(name));

  test.each(mutations)('%s returns 401 without a credential, over every transport', async (name, row) => {
    const { method, path } = findOperation(name);
    const input = row.input(scene, scene.owner);
    const url = path.replace(/\{(\w+)\}/g, (_match, parameter: string) => String(input[parameter]));
    expect((await app.http.call(method, url, broken)).status).toBe(401);
    if (isServed(name, viaTrpc)) expect((await app.http.call('POST', `/trpc/${name}`, broken)).status).toBe(401);
  });

  test('over tRPC, an outsider gets 400, because the workspace is in the body', async () => {
    for (const [token, status] of [[undefined, 401] as const, [scene.outsider.token, 400] as const])
      expect((await app.http.call('POST', '/trpc/labels.create', { token, ...broken })).status).toBe(status);
  });

  test('the operation succeeds with a valid body', async () => {
    for (const transport of [viaRest, viaTrpc]) {
      const input = { id: scene.workspaceId, name: `Through ${transport.name}` };
      expect((await transport(app, { name: 'labels.create', token: scene.admin.token, input })).status).toBe(200);
    }
  });
});
