/**
 * The authorisation matrix over one transport: each operation, by each kind of caller, gets the status that follows
 * from its row. A rejected call changes no row of any table.
 */
import { describe, expect, test } from 'vitest';
import { dumpTables } from '../../support/dump.ts';
import { UNKNOWN_ID } from '../invalid-values.ts';
import { rows } from '../operations.ts';
import { type Child, contentOf, isNamedByText, requiredRole } from '../row.ts';
import { foreignChildren } from '../scene.ts';
import { isServed, type Transport, withoutRandomness } from '../transports.ts';
import { type CallerName, callerNames, callers, expectedMessage, expectedStatus } from './callers.ts';
import { callAs, type Matrix, startMatrix } from './start-matrix.ts';

const insiders = ['owner', 'key of the owner'] as const;

/** Declares the tests in the calling file. */
export function testMatrix(transport: Transport): void {
  const matrix = startMatrix();
  const served = Object.entries(rows).filter(([name]) => isServed(name, transport));

  test.each(served)('%s admits exactly the callers that its row admits', async (name, row) => {
    const { app, restorer } = matrix();
    const expected = Object.fromEntries(callerNames.map((caller) => [caller, expectedStatus(name, row, caller)]));
    const isAdmitted = (caller: CallerName): boolean => (expected[caller] ?? 0) < 400;
    const actual: Record<string, number> = {};
    for (const caller of callerNames.filter((one) => !isAdmitted(one))) {
      const { status, body } = await callAs(matrix(), transport, name, caller);
      actual[caller] = status;
      const message = expectedMessage(name, row, caller, status);
      if (message !== undefined) expect(body, caller).toMatchObject({ message });
    }
    expect(await dumpTables(app), 'a refused call changes nothing').toEqual(restorer.rows);
    for (const caller of callerNames.filter(isAdmitted)) {
      await row.prepare?.(app, matrix().callers[caller].user);
      const before = row.prepare ? await dumpTables(app) : restorer.rows;
      actual[caller] = (await callAs(matrix(), transport, name, caller)).status;
      // A member who joins again changes nothing.
      if (row.writes && !['workspaces.join', 'workspaces.joinByDomain'].includes(name))
        expect(await dumpTables(app), `${caller} changes something`).not.toEqual(before);
      if (row.writes) await restorer.restore();
    }
    expect(actual).toEqual(expected);
    if (!row.writes) expect(await dumpTables(app), 'a read changes nothing').toEqual(restorer.rows);
  });

  const inWorkspaces = served.flatMap(([name, row]) => {
    const required = requiredRole(row);
    return required === null ? [] : [[name, row, required.parameter] as const];
  });

  test.each(inWorkspaces)(
    '%s in another workspace rejects the owner of this one with 403',
    async (name, row, parameter) => {
      const { app, scene, restorer } = matrix();
      for (const caller of insiders) {
        const input = { [parameter]: scene.foreign.workspaceId };
        const { status, body } = await callAs(matrix(), transport, name, caller, { input });
        expect([status, body], caller).toEqual([
          403,
          expect.objectContaining({ message: row.forbidden ?? 'Forbidden' }),
        ]);
      }
      expect(await dumpTables(app)).toEqual(restorer.rows);
    },
  );

  const withChildren = served.flatMap(([name, { keys, children = {} }]) =>
    // `Object.entries` returns the keys as plain strings.
    (Object.entries(children) as [Child, string][]).map(
      ([child, message]) => [name, child, { keys, message }] as const,
    ),
  );

  test.each(withChildren)(
    '%s returns the same 404 for a %s of another workspace as for an unknown one',
    async (name, child, { keys, message }) => {
      const { app, scene, restorer } = matrix();
      const foreign = foreignChildren(scene)[child];
      expect(foreign).toBeDefined();
      for (const caller of insiders.filter((one) => keys || callers[one].kind !== 'key')) {
        const input = { [child]: isNamedByText(child) ? 'no-such-room' : UNKNOWN_ID };
        const unknown = await callAs(matrix(), transport, name, caller, { input });
        const other = await callAs(matrix(), transport, name, caller, { input: { [child]: foreign } });
        expect(withoutRandomness(other), caller).toEqual(withoutRandomness(unknown));
        expect(other).toMatchObject({ status: 404, body: { message } });
      }
      expect(await dumpTables(app)).toEqual(restorer.rows);
    },
  );

  const cases = served.flatMap(([name, row]) =>
    Object.entries(row.cases ?? {}).map(([title, one]) => [name, title, row, one] as const),
  );

  test.each(cases)('%s with %s', async (name, _title, row, { call, status, message }) => {
    const { app, scene, restorer } = matrix();
    const { input, ...others } = call(scene);
    const whole = { ...contentOf(row, scene), ...others, input: { ...row.input(scene, scene.owner), ...input } };
    const outcome = await transport(app, { name, ...whole });
    expect(outcome).toMatchObject({ status, ...(message !== undefined && { body: { message } }) });
    expect(await restorer.restore(), 'only an admitted write changes rows').toBe(status < 400 && row.writes);
  });

  testOtherWorkspaces(transport, matrix);
}

function testOtherWorkspaces(transport: Transport, matrix: () => Matrix): void {
  describe('other workspaces', () => {
    test('a label of another workspace filters library.list as an unknown label does', async () => {
      const { scene } = matrix();
      for (const caller of insiders) {
        const listWith = (label: number) => callAs(matrix(), transport, 'library.list', caller, { input: { label } });
        const unknown = await listWith(UNKNOWN_ID);
        const foreign = await listWith(scene.foreign.labelId);
        expect(foreign).toEqual(unknown);
        expect(foreign.body).toEqual({ items: [], total: 0 });
        expect((await listWith(scene.redId)).body).toMatchObject({ total: 1 });
      }
    });

    test('rooms.create returns 409 for a name taken elsewhere, and 404 for an unknown workspace', async () => {
      const { app, scene, restorer } = matrix();
      for (const caller of insiders) {
        const create = (input: object) => callAs(matrix(), transport, 'rooms.create', caller, { input: { ...input } });
        const unknown = await create({ workspace_id: UNKNOWN_ID });
        // A key for one workspace cannot tell an unknown workspace from another one.
        expect(unknown.status, caller).toBe(404);
        expect(unknown.body).toMatchObject({ message: 'Workspace not found' });
        const taken = await create({ name: scene.foreign.roomName });
        expect(taken).toMatchObject({ status: 409, body: { message: 'Room name already taken' } });
      }
      expect(await dumpTables(app)).toEqual(restorer.rows);
    });

    test('no list contains data of other workspaces, or rooms and recordings of other users', async () => {
      const { scene } = matrix();
      for (const name of ['rooms.list', 'recordings.list', 'rooms.listInWorkspace', 'webhooks.list', 'apiKeys.list']) {
        const { body } = await callAs(matrix(), transport, name, 'key of the owner');
        const text = JSON.stringify(body);
        expect(text, name).toMatch(/contract-1|Chat|Nightly/);
        expect(text, name).not.toContain(`"workspace_id":${scene.foreign.workspaceId}`);
        expect(text, name).not.toContain(scene.foreign.roomName);
      }
      for (const name of ['rooms.list', 'recordings.list'])
        for (const caller of [
          'member',
          'admin',
          'key of an admin',
          'key of the owner for another workspace',
        ] as const) {
          const { body } = await callAs(matrix(), transport, name, caller);
          // The body of a list is an object with one array.
          expect(Object.values(body as object), `${name}, ${caller}`).toEqual([[]]);
        }
    });
  });
}
