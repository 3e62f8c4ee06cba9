/**
 * Each operation through both doors, REST and tRPC, in two equal worlds: the same answer, the same refusal, the same
 * rows left behind; and nothing left behind by what is refused.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../src/client.ts';
import { createClient } from '../../src/client.ts';
import { isAtLeast, type Role } from '../../src/core/roles.ts';
import { listOperations } from '../../src/http/rest.ts';
import { dumpTables, withoutRandomness as rowsWithoutRandomness } from '../support/dump.ts';
import { startTestApp } from '../support/test-app.ts';
import {
  type Call,
  type Door,
  type Input,
  type Outcome,
  problemOf,
  viaRest,
  viaTrpc,
  withoutRandomness,
} from './doors.ts';
import { type Row, rows } from './operations.ts';
import { createWorld, type Scene, type Someone, type World } from './scene.ts';

const HELD_AT = new Date('2026-06-15T12:00:00Z');
const UNKNOWN_ID = 2_147_483_647;

type Side = { world: World; door: Door };
let sides: readonly [Side, Side];

beforeAll(async () => {
  const [restApp, trpcApp] = await Promise.all([startTestApp({ heldAt: HELD_AT }), startTestApp({ heldAt: HELD_AT })]);
  sides = [
    { world: await createWorld(restApp), door: viaRest },
    { world: await createWorld(trpcApp), door: viaTrpc },
  ];
});
afterAll(() => Promise.all(sides.map(({ world }) => world.app.close())));

/** Makes the call in both worlds, and returns the outcome that they share. */
const callBoth = async (toCall: (side: Side, scene: Scene) => Call | Promise<Call>, scenes: readonly Scene[]) => {
  const outcomes: Outcome[] = [];
  for (const [index, side] of sides.entries()) {
    const scene = scenes[index];
    if (!scene) throw new Error('A world without a scene');
    outcomes.push(await side.door(side.world.app, await toCall(side, scene)));
  }
  const [rest, trpc] = outcomes.map(({ body, ...rest }) => ({ ...rest, body: withoutRandomness(body) }));
  expect(trpc, 'tRPC answers as REST does').toEqual(rest);
  if (!rest) throw new Error('No outcome');
  return rest;
};

const addScenes = async (): Promise<Scene[]> => {
  const scenes: Scene[] = [];
  for (const { world } of sides) scenes.push(await world.addScene());
  return scenes;
};

const dumpBoth = async () => Promise.all(sides.map(({ world }) => dumpTables(world.app)));

const expectRefusal = (outcome: Outcome, status: number, body: Input): void => {
  expect(outcome).toEqual({ status, body, challenge: status === 401 ? 'Bearer' : null });
};

const people: readonly Role[] = ['owner', 'admin', 'member'];

/** Who may call an operation, as people of the scene. */
const allowed = (who: Row['who']): readonly Role[] =>
  who === 'anyone' || who === 'user' ? ['member'] : people.filter((role) => isAtLeast(role, who));

const tooLow = (who: Row['who']): readonly Role[] =>
  who === 'anyone' || who === 'user' ? [] : people.filter((role) => !isAtLeast(role, who));

test('every operation of the router has a row, and no row is of none', () => {
  expect(Object.keys(rows).sort()).toEqual(
    listOperations()
      .map(({ name }) => name)
      .sort(),
  );
});

describe.each(Object.entries(rows))('%s', (name, row) => {
  const isInWorkspace = row.who !== 'anyone' && row.who !== 'user';
  const callerIn = ({ world }: Side, scene: Scene, role: Role): Promise<Someone> | Someone =>
    row.caller ? row.caller(world) : scene[role];
  const tokenOf = (by: Someone): string | undefined => (row.who === 'anyone' ? undefined : by.token);

  test.each(allowed(row.who))('succeeds for %s: one answer, and the same rows', async (role) => {
    const scenes = await addScenes();
    const callers = new Map<Side, Someone>();
    for (const [index, side] of sides.entries()) callers.set(side, await callerIn(side, scenes[index] as Scene, role));
    const before = await dumpBoth();
    const outcome = await callBoth((side, scene) => {
      const by = callers.get(side) as Someone;
      return { name, token: tokenOf(by), input: row.input(scene, by) };
    }, scenes);
    const after = await dumpBoth();

    expect(outcome).toMatchObject({ status: 200, challenge: null });
    const [rest, trpc] = after.map(rowsWithoutRandomness);
    expect(trpc, 'tRPC leaves the rows that REST leaves').toEqual(rest);
    if (row.writes) expect(after).not.toEqual(before);
    else expect(after, 'a read writes nothing').toEqual(before);
  });

  if (!row.writes)
    test('the typed client reads what REST answers', async () => {
      const [scene] = await addScenes();
      if (!scene) throw new Error('No scene');
      const { app } = scene;
      const token = scene.owner.token;
      const input = row.input(scene, scene.owner);
      const { body } = await viaRest(app, { name, token, input });
      const [room, procedure] = name.split('.') as [string, string];
      const client = createClient({ url: app.url, token }) as unknown as Record<
        string,
        Record<string, Record<'query' | 'mutate', (input: Input) => Promise<unknown>>>
      > &
        Client;
      const verb = name === 'workspaces.invite' ? 'mutate' : 'query';
      expect(await client[room]?.[procedure]?.[verb](input)).toEqual(body);
    });

  describe('refuses, through both doors alike, and changes nothing:', () => {
    let scenes: Scene[];
    let before: Awaited<ReturnType<typeof dumpBoth>>;
    const lowest: Role = allowed(row.who).at(-1) ?? 'owner';
    beforeAll(async () => {
      scenes = await addScenes();
    });

    const refused = async (
      change: (scene: Scene) => { token?: string | undefined; input?: Input },
      status: number,
      body: Input,
    ): Promise<Outcome> => {
      before = await dumpBoth();
      const outcome = await callBoth((_side, scene) => {
        const by = scene[lowest];
        const { input, ...other } = change(scene);
        return { name, token: tokenOf(by), ...other, input: { ...row.input(scene, by), ...input } };
      }, scenes);
      expectRefusal(outcome, status, body);
      expect(await dumpBoth()).toEqual(before);
      return outcome;
    };

    if (row.who !== 'anyone') {
      test('nobody: 401', () => refused(() => ({ token: undefined }), 401, problemOf('UNAUTHORIZED', 'Unauthorized')));

      test.each(['x', 'lns_', `lns_${'A'.repeat(43)}`, `lnx_${'A'.repeat(40)}`, 'A'.repeat(10_000), '%00'])(
        'the credential %s: 401',
        (token) => refused(() => ({ token }), 401, problemOf('UNAUTHORIZED', 'Unauthorized')),
      );

      test('a session that has ended: 401', async () => {
        const tokens = new Map<Scene, string>();
        for (const scene of scenes) {
          const { email } = scene.member;
          const login = await scene.app.http.post('/api/auth/login', undefined, {
            email,
            password: 'correct horse battery staple',
          });
          await scene.app.http.post('/api/auth/logout', login.body.token);
          tokens.set(scene, login.body.token);
        }
        await refused((scene) => ({ token: tokens.get(scene) }), 401, problemOf('UNAUTHORIZED', 'Unauthorized'));
      });
    }

    if (isInWorkspace) {
      test('who is not a member: 403', () =>
        refused(
          (scene) => ({ token: scene.outsider.token }),
          403,
          problemOf('FORBIDDEN', row.forbidden ?? 'Forbidden'),
        ));

      for (const role of tooLow(row.who))
        test(`a role too low, ${role}: 403`, () =>
          refused(
            (scene) => ({ token: scene[role].token }),
            403,
            problemOf('FORBIDDEN', row.forbidden ?? 'Forbidden'),
          ));

      test('an unknown workspace: 404', () =>
        refused(() => ({ input: { id: UNKNOWN_ID } }), 404, problemOf('NOT_FOUND', 'Workspace not found')));

      test.each([0, -1, 1.5, 2_147_483_648, 'abc', '1e0', '01', '1 ', '١', '9'.repeat(400)])(
        'the workspace id %s: 400',
        (id) => {
          const message = 'id must be a positive 32-bit integer';
          const body = problemOf('BAD_REQUEST', message, [{ path: 'id', message }]);
          return refused(() => ({ input: { id } }), 400, expect.objectContaining(body) && body);
        },
      );
    }

    for (const [child, message] of Object.entries(row.children ?? {})) {
      const notFound = problemOf('NOT_FOUND', message);

      test(`an unknown ${child}: 404`, () => refused(() => ({ input: { [child]: UNKNOWN_ID } }), 404, notFound));

      test(`the ${child} of another workspace: exactly as an unknown one`, () =>
        refused(
          ({ foreign, outsider }) => ({
            input: { [child]: { labelId: foreign.labelId, itemId: foreign.itemId, userId: outsider.id }[child] },
          }),
          404,
          notFound,
        ));

      test.each([0, -1, 1.5, 2_147_483_648, 'abc', '1e0', '01'])(`the ${child} %s: 400`, (id) => {
        const problem = `${child} must be a positive 32-bit integer`;
        return refused(
          () => ({ input: { [child]: id } }),
          400,
          problemOf('BAD_REQUEST', problem, [{ path: child, message: problem }]),
        );
      });
    }

    for (const { input, message, path } of row.wrong ?? [])
      test(`${JSON.stringify(input).slice(0, 60)}: 400 ${message}`, () =>
        refused(() => ({ input }), 400, problemOf('BAD_REQUEST', message, [{ path, message }])));

    const { conflict } = row;
    if (conflict)
      test(`409 ${conflict.message}`, () =>
        refused(
          (scene) => ({ token: tokenOf(scene.owner), input: conflict.input(scene, scene.owner) }),
          409,
          problemOf('CONFLICT', conflict.message),
        ));
  });
});
