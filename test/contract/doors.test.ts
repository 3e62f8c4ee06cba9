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
import { PASSWORD } from '../support/world.ts';
import {
  type Call,
  type Door,
  type Input,
  isQuery,
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
const NO_IDS = [0, -1, 1.5, 2_147_483_648, 'abc', '1e0', '01', '1.0', '+1', ' 1', '\u0661', '9'.repeat(400)];
const NO_CREDENTIALS = [
  'x',
  'lns_',
  `lns_${'A'.repeat(43)}`,
  `lnx_${'A'.repeat(40)}`,
  'A'.repeat(10_000),
  '%00',
  'x y',
];

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
      const verb = isQuery(name) ? 'query' : 'mutate';
      expect(await client[room]?.[procedure]?.[verb](input)).toEqual(body);
    });

  describe('refuses, through both doors alike, and changes nothing:', () => {
    let scenes: Scene[];
    const lowest: Role = allowed(row.who).at(-1) ?? 'owner';
    beforeAll(async () => {
      scenes = await addScenes();
    });

    type Change = (scene: Scene) => { token?: string | undefined; input?: Input };

    /** Makes each call in both worlds; `body` is what all of them are refused with. */
    const refused = async (changes: readonly Change[], status: number, body: Input): Promise<void> => {
      const before = await dumpBoth();
      for (const change of changes) {
        const outcome = await callBoth((_side, scene) => {
          const by = scene[lowest];
          const { input, ...other } = change(scene);
          return { name, token: tokenOf(by), ...other, input: { ...row.input(scene, by), ...input } };
        }, scenes);
        expect(outcome).toEqual({ status, body, challenge: status === 401 ? 'Bearer' : null });
      }
      expect(await dumpBoth()).toEqual(before);
    };

    /** Each of `ids` in the place of `field`. */
    const refusesIds = (field: string, ids: readonly unknown[]): Promise<void> => {
      const message = `${field} must be a positive 32-bit integer`;
      const changes = ids.map((id) => () => ({ input: { [field]: id } }));
      return refused(changes, 400, problemOf('BAD_REQUEST', message, [{ path: field, message }]));
    };

    if (row.who !== 'anyone') {
      test('nobody, and a credential that is none: 401', () =>
        refused(
          [undefined, ...NO_CREDENTIALS].map((token) => () => ({ token })),
          401,
          problemOf('UNAUTHORIZED', 'Unauthorized'),
        ));

      test('a session that has ended: 401', async () => {
        const tokens = new Map<Scene, string>();
        for (const scene of scenes) {
          const credentials = { email: scene.member.email, password: PASSWORD };
          const { body } = await scene.app.http.post('/api/auth/login', undefined, credentials);
          await scene.app.http.post('/api/auth/logout', body.token);
          tokens.set(scene, body.token);
        }
        const change: Change = (scene) => ({ token: tokens.get(scene) });
        await refused([change], 401, problemOf('UNAUTHORIZED', 'Unauthorized'));
      });
    }

    if (isInWorkspace) {
      test('who is not a member, or whose role is too low: 403', () =>
        refused(
          (['outsider', ...tooLow(row.who)] as const).map((person) => (scene) => ({ token: scene[person].token })),
          403,
          problemOf('FORBIDDEN', row.forbidden ?? 'Forbidden'),
        ));

      test('an unknown workspace: 404', () =>
        refused([() => ({ input: { id: UNKNOWN_ID } })], 404, problemOf('NOT_FOUND', 'Workspace not found')));

      test('a workspace id that is none: 400', () => refusesIds('id', NO_IDS));
    }

    for (const [child, message] of Object.entries(row.children ?? {})) {
      test(`an unknown ${child}, and one of another workspace, alike: 404`, () => {
        const foreignIds = ({ foreign, outsider }: Scene): Input => ({ ...foreign, userId: outsider.id });
        return refused(
          [() => ({ input: { [child]: UNKNOWN_ID } }), (scene) => ({ input: { [child]: foreignIds(scene)[child] } })],
          404,
          problemOf('NOT_FOUND', message),
        );
      });

      test(`a ${child} that is no id: 400`, () => refusesIds(child, NO_IDS));
    }

    for (const { input, message, path } of row.wrong ?? [])
      test(`${JSON.stringify(input).slice(0, 60)}: 400 ${message}`, () =>
        refused([() => ({ input })], 400, problemOf('BAD_REQUEST', message, [{ path, message }])));

    const { conflict } = row;
    if (conflict)
      test(`409 ${conflict.message}`, () =>
        refused(
          [(scene) => ({ token: tokenOf(scene.owner), input: conflict.input(scene, scene.owner) })],
          409,
          problemOf('CONFLICT', conflict.message),
        ));
  });
});
