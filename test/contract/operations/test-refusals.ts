/** Tests the calls that an operation rejects by its row: the same error over every transport, and no write. */
import { describe, expect, test } from 'vitest';
import type { Dump } from '../../support/dump.ts';
import { eventually } from '../../support/eventually.ts';
import { PASSWORD } from '../../support/world.ts';
import { wrongTypeOf } from '../content.ts';
import { childIdForms, type IdForm, idForm, invalidTokens, UNKNOWN_IDS, unknownChildren } from '../invalid-values.ts';
import {
  allowedRoles,
  type Child,
  isNamedByText,
  type Row,
  requiredRole,
  rolesBelow,
  unsignedContentOf,
} from '../row.ts';
import { foreignChildren, type Scene } from '../scene.ts';
import { type Call, type Input, problemOf } from '../transports.ts';
import type { Stages } from './stages.ts';

/** The parts of a valid call that are replaced. The input is merged. */
type Change = (scene: Scene) => Partial<Pick<Call, 'token' | 'input' | 'content'>>;

type ExpectRefusal = (
  changes: readonly Change[],
  expected: { status: number; body: Input; before?: Dump[]; isLogged?: true },
) => Promise<void>;

export function testRefusals(stages: Stages, name: string, row: Row): void {
  describe('rejected calls get the same error over every transport and write nothing', () => {
    /** Makes each call in both worlds. Each gets the same error in both, and together they change no row. */
    const expectRefusal: ExpectRefusal = async (changes, expected) => {
      const { status, body, before = stages.initialRows(name), isLogged } = expected;
      for (const change of changes) {
        const outcome = await stages.call(name, ({ scene }) => changedCall(row, scene, change));
        expect(outcome).toEqual({ status, body, challenge: status === 401 ? 'Bearer' : null });
      }
      if (isLogged) await expectLogged(stages, name, before);
      else expect(await stages.dump(name)).toEqual(before);
    };
    testCredentials(stages, name, row, expectRefusal);
    testWorkspace(row, expectRefusal);
    testChildren(row, expectRefusal);
    testInputs(stages, name, row, expectRefusal);
  });
}

/** The entry is written after the response. */
async function expectLogged(stages: Stages, name: string, before: readonly Dump[]): Promise<void> {
  const isGuess = (event: Record<string, unknown>): boolean => event.action === 'sign_in_failed';
  const after = await eventually(async () => {
    const dumps = await stages.dump(name);
    return dumps.every(({ account_events: events = [] }) => events.some(isGuess)) && dumps;
  });
  expect(
    after.map(({ account_events: events = [], ...rows }) => ({
      ...rows,
      account_events: events.filter((event) => !isGuess(event)),
    })),
  ).toEqual(before);
}

function changedCall(row: Row, scene: Scene, change: Change): Omit<Call, 'name'> {
  const by = scene[allowedRoles(row).at(-1) ?? 'owner'];
  const { input, ...others } = change(scene);
  return {
    token: row.who === 'anyone' ? undefined : by.token,
    ...unsignedContentOf(row, scene),
    ...others,
    input: { ...row.input(scene, by), ...input },
  };
}

function testCredentials(stages: Stages, name: string, row: Row, expectRefusal: ExpectRefusal): void {
  const unauthorized = { status: 401, body: problemOf('UNAUTHORIZED', row.unauthorized ?? 'Unauthorized') };
  const withTokens = (tokens: readonly (string | undefined)[]): Change[] => tokens.map((token) => () => ({ token }));

  if (row.acceptsCredential)
    test('an invalid credential returns 401', () => expectRefusal(withTokens(invalidTokens), unauthorized));
  if (row.who === 'anyone') return;

  test('a missing or invalid credential returns 401', () =>
    expectRefusal(withTokens([undefined, ...invalidTokens]), unauthorized));

  test('a session that has ended returns 401', async () => {
    stages.restoreAfterTest();
    const tokens = new Map<Scene, string>();
    for (const { scene } of stages.of(name)) {
      const credentials = { email: scene.member.email, password: PASSWORD };
      const { body } = await scene.app.http.post('/api/auth/login', undefined, credentials);
      await scene.app.http.post('/api/auth/logout', body.token);
      tokens.set(scene, body.token);
    }
    const change: Change = (scene) => ({ token: tokens.get(scene) });
    await expectRefusal([change], { ...unauthorized, before: await stages.dump(name) });
  });
}

function testWorkspace(row: Row, expectRefusal: ExpectRefusal): void {
  const required = requiredRole(row);
  if (required === null) return;
  const { min, parameter } = required;

  test('a user who is not a member or whose role is too low gets 403', () =>
    expectRefusal(
      (['outsider', ...rolesBelow(min)] as const).map((user) => (scene) => ({ token: scene[user].token })),
      { status: 403, body: problemOf('FORBIDDEN', row.forbidden ?? 'Forbidden') },
    ));

  test('an unknown workspace returns 404', () =>
    expectRefusal(
      UNKNOWN_IDS.map((unknown) => () => ({ input: { [parameter]: unknown } })),
      { status: 404, body: problemOf('NOT_FOUND', 'Workspace not found') },
    ));

  test('a malformed workspace ID returns 400', () => expectMalformed(expectRefusal, parameter, idForm));
}

function testChildren({ children = {} }: Row, expectRefusal: ExpectRefusal): void {
  // `Object.entries` returns the keys as plain strings.
  for (const [child, message] of Object.entries(children) as [Child, string][]) {
    test(`an unknown ${child} and one of another workspace return the same 404`, () =>
      expectRefusal(
        [
          ...unknownChildren(child).map((unknown) => () => ({ input: { [child]: unknown } })),
          (scene) => ({ input: { [child]: foreignChildren(scene)[child] } }),
        ],
        { status: 404, body: problemOf('NOT_FOUND', message) },
      ));

    if (!isNamedByText(child))
      test(`a malformed ${child} returns 400`, () =>
        expectMalformed(expectRefusal, child, childIdForms[child] ?? idForm));
  }
}

function expectMalformed(expectRefusal: ExpectRefusal, field: string, { malformed, form }: IdForm): Promise<void> {
  const message = `${field} ${form}`;
  const changes = malformed.map((id) => () => ({ input: { [field]: id } }));
  return expectRefusal(changes, { status: 400, body: problemOf('BAD_REQUEST', message, [{ path: field, message }]) });
}

function testInputs(stages: Stages, name: string, row: Row, expectRefusal: ExpectRefusal): void {
  for (const { input, message, path, isLogged } of row.wrong ?? [])
    test(`${JSON.stringify(input).slice(0, 60)} returns 400 "${message}"`, async () => {
      if (isLogged) stages.restoreAfterTest();
      await expectRefusal([() => ({ input })], {
        status: 400,
        body: problemOf('BAD_REQUEST', message, [{ path, message }]),
        ...(isLogged && { isLogged }),
      });
    });

  const wrongType = wrongTypeOf(name);
  if (wrongType) {
    const { content, status, code, message, path } = wrongType;
    test(`a body of another type returns ${status} "${message}"`, () =>
      expectRefusal([() => ({ content })], {
        status,
        body: problemOf(code, message, path === undefined ? undefined : [{ path, message }]),
      }));
  }

  const { conflict } = row;
  if (conflict)
    test(`a conflict returns 409 "${conflict.message}"`, () =>
      expectRefusal(
        [
          (scene) => ({
            token: row.who === 'anyone' ? undefined : scene.owner.token,
            input: conflict.input(scene, scene.owner),
          }),
        ],
        { status: 409, body: problemOf('CONFLICT', conflict.message) },
      ));
}
