/**
 * Tests each operation of a feature by its row. A procedure is called over REST and over tRPC, in two equal worlds: it
 * returns the same responses and errors, and writes the same rows. A raw operation is called over REST. A rejected call
 * writes nothing.
 */
import { describe, expect, test } from 'vitest';
import { createClient } from '../../../packages/client/src/index.ts';
import { withoutRandomness as rowsWithoutRandomness } from '../../support/dump.ts';
import { allowedRoles, type Row, type Rows, validCall } from '../row.ts';
import type { Scene, User } from '../scene.ts';
import { findRawOperation, type Input, isQuery, viaRest, withoutRandomness } from '../transports.ts';
import { type Stages, startStages } from './stages.ts';
import { testRefusals } from './test-refusals.ts';

/** Declares the tests of the rows in the calling file. */
export function testOperations(rows: Rows): void {
  const stages = startStages((name) => rows[name]?.random);

  describe.each(Object.entries(rows))('%s', (name, row) => {
    testSuccess(stages, name, row);
    if (!row.writes && !findRawOperation(name)) testTypedClient(stages, name, row);
    if (isEverRefused(row)) testRefusals(stages, name, row);
  });
}

function testSuccess(stages: Stages, name: string, row: Row): void {
  test.each(allowedRoles(row))(
    'succeeds for %s, with the same response and rows over every transport',
    async (role) => {
      stages.restoreAfterTest();
      const callers = new Map<Scene, User>(
        await Promise.all(
          stages.of(name).map(async ({ world, scene }) => [scene, (await row.caller?.(world)) ?? scene[role]] as const),
        ),
      );
      const before = await stages.dump(name);
      const outcome = await stages.call(name, ({ scene }) =>
        validCall(name, row, scene, callers.get(scene) ?? scene[role]),
      );
      const after = await stages.dump(name);

      expect(outcome).toMatchObject({ status: row.status ?? 200, challenge: null });
      const [rest, trpc] = after.map(rowsWithoutRandomness);
      if (trpc) expect(trpc, 'tRPC writes the rows that REST writes').toEqual(rest);
      if (row.writes) for (const [index, dump] of after.entries()) expect(dump).not.toEqual(before[index]);
      else expect(after, 'a read writes nothing').toEqual(before);
    },
  );
}

type AnyClient = Record<string, Record<string, Record<'query' | 'mutate', (input: Input) => Promise<unknown>>>>;

function testTypedClient(stages: Stages, name: string, row: Row): void {
  test('returns the same to the typed client as over REST', async () => {
    // The client sends an idempotency key with a mutation, also if it changes nothing.
    stages.restoreAfterTest();
    const { scene } = stages.rest();
    const { app, owner } = scene;
    const input = row.input(scene, owner);
    const { body } = await viaRest(app, { name, token: owner.token, input });
    const [feature = '', procedure = ''] = name.split('.');
    // The client's type has no index signature for a name that is known only at run time.
    const client = createClient({ url: app.url, token: owner.token }) as unknown as AnyClient;
    const read = await client[feature]?.[procedure]?.[isQuery(name) ? 'query' : 'mutate'](input);
    expect(withoutRandomness(read, row.random)).toEqual(withoutRandomness(body, row.random));
  });
}

function isEverRefused({ who, children, wrong, conflict }: Row): boolean {
  return who !== 'anyone' || children !== undefined || wrong !== undefined || conflict !== undefined;
}
