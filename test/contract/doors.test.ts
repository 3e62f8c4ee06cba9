/**
 * Each operation through both transports, REST and tRPC, in two equal worlds: the same answer, the same refusal, the
 * same rows left behind; and nothing left behind by what is refused.
 */

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../src/client.ts';
import { isAtLeast, type Role } from '../../src/core/roles.ts';
import { operations } from '../support/api.ts';
import { type Dump, dumpTables, withoutRandomness as rowsWithoutRandomness } from '../support/dump.ts';
import { startTestApp } from '../support/test-app.ts';
import { PASSWORD } from '../support/world.ts';
import { rows } from './operations.ts';
import { type Restorer, rememberRows } from './restore.ts';
import { type Child, isNamedByText, type Row, workspaceOf } from './row.ts';
import { rowHints } from './row-hints.ts';
import { createWorld, foreignChildren, type Scene, type Someone, type World } from './scene.ts';
import {
  type Call,
  type Input,
  isQuery,
  type Outcome,
  problemOf,
  type Transport,
  viaRest,
  viaTrpc,
  withoutRandomness,
} from './transports.ts';

const HELD_AT = new Date('2026-06-15T12:00:00Z');
const UNKNOWN_ID = 2_147_483_647;
const NO_IDS: readonly unknown[] = [
  0,
  -1,
  1.5,
  2_147_483_648,
  'abc',
  '1e0',
  '01',
  '1.0',
  '+1',
  ' 1',
  '\u0661',
  '9'.repeat(400),
];
const MAX_64 = Number.MAX_SAFE_INTEGER;
const ID_FORM = 'must be a positive 32-bit integer';
/** What ids are that are no 32-bit ones: which are none, and what is said of them. */
const idForms: Partial<Record<Child, { noIds: readonly unknown[]; form: string }>> = {
  deliveryId: {
    noIds: [...NO_IDS.filter((id) => id !== 2_147_483_648), MAX_64 + 1],
    form: `must be the id of a delivery, an integer between 1 and ${MAX_64}`,
  },
};
const NO_CREDENTIALS = [
  'x',
  'lns_',
  `lns_${'A'.repeat(43)}`,
  `lnx_${'A'.repeat(40)}`,
  'A'.repeat(10_000),
  '%00',
  'x y',
];

/** One of the two worlds, with the transport that its calls take. */
type Stage = { world: World; scene: Scene; transport: Transport; restorer: Restorer };
let stages: readonly Stage[];

beforeAll(async () => {
  stages = await Promise.all(
    [viaRest, viaTrpc].map(async (transport) => {
      const world = await createWorld(await startTestApp({ frozenAt: HELD_AT }));
      const scene = await world.addScene();
      return { world, scene, transport, restorer: await rememberRows(world.app) };
    }),
  );
});
afterAll(() =>
  Promise.all(
    stages.map(async ({ world, restorer }) => {
      await restorer.close();
      await world.app.close();
    }),
  ),
);

/** Brings both worlds back to their first rows once the test is over. */
function restoreAfterwards(): void {
  onTestFinished(async () => {
    await Promise.all(stages.map(({ restorer }) => restorer.restore()));
  });
}

/** Makes the call on both stages, and returns the outcome that they share. */
async function callBoth(toCall: (stage: Stage) => Call | Promise<Call>): Promise<Outcome> {
  const outcomes = await Promise.all(
    stages.map(async (stage) => {
      const call = await toCall(stage);
      const { body, ...rest } = await stage.transport(stage.world.app, call);
      return { ...rest, body: withoutRandomness(body, rows[call.name]?.random) };
    }),
  );
  const [rest, trpc] = outcomes;
  if (!rest) throw new Error('No outcome');
  expect(trpc, 'tRPC answers as REST does').toEqual(rest);
  return rest;
}

function dumpBoth(): Promise<Dump[]> {
  return Promise.all(stages.map(({ world }) => dumpTables(world.app)));
}

const people: readonly Role[] = ['owner', 'admin', 'member'];

/** Who may call an operation, as people of the scene. */
function allowed(row: Row): readonly Role[] {
  if (row.who === 'room owner') return ['owner'];
  if (row.who === 'room host') return ['owner', 'admin'];
  const place = workspaceOf(row);
  return place === null ? ['member'] : people.filter((role) => isAtLeast(role, place.min));
}

function tooLow(min: Role): readonly Role[] {
  return people.filter((role) => !isAtLeast(role, min));
}

/** Names that no room has, or can have. */
const NO_NAMES = ['no-such-room', 'A', '%00', 'x'.repeat(4_000), '\u0661'];

function unknownChildren(child: Child): readonly unknown[] {
  return isNamedByText(child) ? [...NO_NAMES, `msg_${'f'.repeat(32)}`] : [UNKNOWN_ID];
}

test('every operation of the router has a row, and no row is of none', () => {
  expect(Object.keys(rows).sort(), rowHints()).toEqual(operations.map(({ name }) => name).sort());
});

type AnyClient = Record<string, Record<string, Record<'query' | 'mutate', (input: Input) => Promise<unknown>>>>;

describe.each(Object.entries(rows))('%s', (name, row) => {
  const place = workspaceOf(row);
  const tokenOf = (by: Someone): string | undefined => (row.who === 'anyone' ? undefined : by.token);

  test.each(allowed(row))('succeeds for %s: one answer, and the same rows', async (role) => {
    restoreAfterwards();
    const callers = new Map<Scene, Someone>(
      await Promise.all(
        stages.map(async ({ world, scene }) => [scene, (await row.caller?.(world)) ?? scene[role]] as const),
      ),
    );
    const before = await dumpBoth();
    const outcome = await callBoth(({ scene }) => {
      const by = callers.get(scene) ?? scene[role];
      return { name, token: tokenOf(by), input: row.input(scene, by) };
    });
    const after = await dumpBoth();

    expect(outcome).toMatchObject({ status: row.status ?? 200, challenge: null });
    const [rest, trpc] = after.map(rowsWithoutRandomness);
    expect(trpc, 'tRPC leaves the rows that REST leaves').toEqual(rest);
    if (row.writes) expect(after).not.toEqual(before);
    else expect(after, 'a read writes nothing').toEqual(before);
  });

  if (!row.writes)
    test('the typed client reads what REST answers', async () => {
      const [{ scene } = { scene: undefined }] = stages;
      if (!scene) throw new Error('No scene');
      const { app, owner } = scene;
      const input = row.input(scene, owner);
      const { body } = await viaRest(app, { name, token: owner.token, input });
      const [room = '', procedure = ''] = name.split('.');
      // By name: the type knows each operation, but not one of a table.
      const client = createClient({ url: app.url, token: owner.token }) as unknown as AnyClient;
      const read = await client[room]?.[procedure]?.[isQuery(name) ? 'query' : 'mutate'](input);
      expect(withoutRandomness(read, row.random)).toEqual(withoutRandomness(body, row.random));
    });

  const isRefused = row.who !== 'anyone' || row.wrong || row.conflict;
  describe.runIf(isRefused)('refuses, through both transports alike, and changes nothing:', () => {
    const lowest: Role = allowed(row).at(-1) ?? 'owner';

    type Change = (scene: Scene) => { token?: string | undefined; input?: Input };

    /** Makes each call in both worlds; `body` is what all of them are refused with. */
    const refused = async (changes: readonly Change[], status: number, body: Input): Promise<void> => {
      const before = await dumpBoth();
      for (const change of changes) {
        const outcome = await callBoth(({ scene }) => {
          const by = scene[lowest];
          const { input, ...other } = change(scene);
          return { name, token: tokenOf(by), ...other, input: { ...row.input(scene, by), ...input } };
        });
        expect(outcome).toEqual({ status, body, challenge: status === 401 ? 'Bearer' : null });
      }
      expect(await dumpBoth()).toEqual(before);
    };

    /** Each of `noIds` in the place of `field`. */
    const refusesIds = (field: string, { noIds, form } = { noIds: NO_IDS, form: ID_FORM }): Promise<void> => {
      const message = `${field} ${form}`;
      const changes = noIds.map((id) => () => ({ input: { [field]: id } }));
      return refused(changes, 400, problemOf('BAD_REQUEST', message, [{ path: field, message }]));
    };

    if (row.knowsCaller)
      test('a credential that is none: 401', () =>
        refused(
          NO_CREDENTIALS.map((token) => () => ({ token })),
          401,
          problemOf('UNAUTHORIZED', 'Unauthorized'),
        ));

    if (row.who !== 'anyone') {
      test('nobody, and a credential that is none: 401', () =>
        refused(
          [undefined, ...NO_CREDENTIALS].map((token) => () => ({ token })),
          401,
          problemOf('UNAUTHORIZED', 'Unauthorized'),
        ));

      test('a session that has ended: 401', async () => {
        restoreAfterwards();
        const tokens = new Map<Scene, string>();
        for (const { scene } of stages) {
          const credentials = { email: scene.member.email, password: PASSWORD };
          const { body } = await scene.app.http.post('/api/auth/login', undefined, credentials);
          await scene.app.http.post('/api/auth/logout', body.token);
          tokens.set(scene, body.token);
        }
        const change: Change = (scene) => ({ token: tokens.get(scene) });
        await refused([change], 401, problemOf('UNAUTHORIZED', 'Unauthorized'));
      });
    }

    if (place !== null) {
      const { min, parameter } = place;
      test('who is not a member, or whose role is too low: 403', () =>
        refused(
          (['outsider', ...tooLow(min)] as const).map((person) => (scene) => ({ token: scene[person].token })),
          403,
          problemOf('FORBIDDEN', row.forbidden ?? 'Forbidden'),
        ));

      test('an unknown workspace: 404', () =>
        refused([() => ({ input: { [parameter]: UNKNOWN_ID } })], 404, problemOf('NOT_FOUND', 'Workspace not found')));

      test('a workspace id that is none: 400', () => refusesIds(parameter));
    }

    for (const [child, message] of Object.entries(row.children ?? {}) as [Child, string][]) {
      test(`an unknown ${child}, and one of another workspace, alike: 404`, () =>
        refused(
          [
            ...unknownChildren(child).map((unknown) => () => ({ input: { [child]: unknown } })),
            (scene) => ({ input: { [child]: foreignChildren(scene)[child] } }),
          ],
          404,
          problemOf('NOT_FOUND', message),
        ));

      if (!isNamedByText(child)) test(`a ${child} that is no id: 400`, () => refusesIds(child, idForms[child]));
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
