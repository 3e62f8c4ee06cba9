/**
 * Records the examples of the OpenAPI document: it calls every operation of the real service over HTTP, in the world of
 * the contract tests, once successfully and once for each error that can be caused there.
 */
import type { Example, ExampleError } from '../../src/openapi/examples.ts';
import { defaultQuotas } from '../../src/quotas/quotas.ts';
import { wrongTypeOf } from '../contract/content.ts';
import { idForm, UNKNOWN_ID, unknownChildren } from '../contract/invalid-values.ts';
import { rows } from '../contract/operations.ts';
import { type Restorer, saveRows } from '../contract/restore.ts';
import {
  allowedRoles,
  type Child,
  isNamedByText,
  type Row,
  requiredRole,
  rolesBelow,
  unsignedContentOf,
  validCall,
} from '../contract/row.ts';
import { createWorld, type Scene, type World } from '../contract/scene.ts';
import { type Call, findRawOperation, type Input, viaRest } from '../contract/transports.ts';
import { startTestApp } from '../support/test-app.ts';
import { exampleConflicts, exampleErrors } from './example-errors.ts';
import { exampleInputs } from './example-inputs.ts';
import { withoutSecrets } from './without-secrets.ts';

const FROZEN_AT = new Date('2026-06-15T12:00:00Z');

type Recorded = Record<string, Example>;

/** Calls every operation, one after another, so that the ids are the same each time. */
export async function recordExamples(): Promise<Recorded> {
  const app = await startTestApp({ frozenAt: FROZEN_AT, settings: { quotas: { ...defaultQuotas } } });
  try {
    const world = await createWorld(app);
    const scene = await world.addScene();
    const restorer = await saveRows(app);
    try {
      return await recordRows(world, scene, restorer);
    } finally {
      await restorer.close();
    }
  } finally {
    await app.close();
  }
}

async function recordRows(world: World, scene: Scene, restorer: Restorer): Promise<Recorded> {
  const recorded: Recorded = {};
  for (const [name, row] of Object.entries(rows)) {
    const errors = await recordErrors(name, row, scene);
    await restorer.restore();
    const success = await recordSuccess(name, row, world, scene);
    recorded[name] = withoutSecrets({ ...success, errors }, { url: scene.app.url, random: row.random ?? [] });
    await restorer.restore();
  }
  return recorded;
}

async function recordSuccess(name: string, row: Row, world: World, scene: Scene) {
  const by = (await row.caller?.(world)) ?? scene[allowedRoles(row)[0]];
  const call = validCall(name, row, scene, by);
  const input = { ...call.input, ...exampleInputs[name] };
  const { status, body } = await viaRest(scene.app, { ...call, input });
  if (status >= 300) throw new Error(`${name} answered ${status}: ${JSON.stringify(body)}`);
  // The document shows no picture.
  const response = findRawOperation(name)?.response.kind === 'image' ? null : body;
  return { input: { ...input, ...jsonOf(call) }, response };
}

/** The fields of a body that is JSON but not built from the input: that of a callback. */
function jsonOf({ content }: Call): Input {
  const body = content?.body instanceof Uint8Array ? new TextDecoder().decode(content.body) : content?.body;
  return typeof body === 'string' && body.startsWith('{') ? JSON.parse(body) : {};
}

async function recordErrors(name: string, row: Row, scene: Scene): Promise<Record<string, ExampleError[]>> {
  const errors: Record<string, ExampleError[]> = {};
  for (const change of refusedCalls(name, row, scene)) await recordError(name, row, scene, change, errors);
  const prepareConflict = exampleConflicts[name];
  if (prepareConflict) {
    const { quotas } = scene.app.services.settings;
    const before = { ...quotas };
    const token = row.who === 'user' ? scene.outsider.token : tokenOfOwner(row, scene);
    const change = { token, input: await prepareConflict(scene) };
    await recordError(name, row, scene, change, errors);
    Object.assign(quotas, before);
  }
  return errors;
}

async function recordError(
  name: string,
  row: Row,
  scene: Scene,
  change: Change,
  errors: Record<string, ExampleError[]>,
): Promise<void> {
  const valid = validCall(name, row, scene, scene[allowedRoles(row).at(-1) ?? 'owner']);
  const input = { ...valid.input, ...exampleInputs[name], ...change.input };
  const { status, body } = await viaRest(scene.app, { ...valid, ...change, input });
  if (status < 400) throw new Error(`${name} accepted ${JSON.stringify(change)}`);
  // Checked against the document, which says that every error has this form.
  const { message, code, issues } = body as ExampleError;
  const known = errors[status] ?? [];
  errors[status] = known;
  if (!known.some((one) => one.message === message)) known.push({ message, code, ...(issues && { issues }) });
}

type Change = Partial<Pick<Call, 'token' | 'input' | 'content'>>;

/** Calls that are refused, as changes of a valid call. */
function* refusedCalls(name: string, row: Row, scene: Scene): Generator<Change> {
  yield* invalidInputs(name, row);
  const required = requiredRole(row);
  if (row.who !== 'anyone') yield { token: undefined, ...unsignedContentOf(row, scene) };
  if (row.acceptsCredential) yield { token: 'x' };
  if (required) {
    for (const user of [...rolesBelow(required.min), 'outsider'] as const) yield { token: scene[user].token };
    yield { input: { [required.parameter]: UNKNOWN_ID } };
  } else if (!row.keys && row.who !== 'provider') yield { token: scene.key };
  for (const child of Object.keys(row.children ?? {}) as Child[])
    yield { input: { [child]: unknownChildren(child)[0] } };
  const { conflict } = row;
  if (conflict) yield { token: tokenOfOwner(row, scene), input: conflict.input(scene, scene.owner) };
  const prepare = exampleErrors[name];
  // None of them changes anything.
  if (prepare) yield { input: prepare(scene) };
}

function tokenOfOwner({ who }: Row, { owner }: Scene): string | undefined {
  return who === 'anyone' || who === 'provider' ? undefined : owner.token;
}

/** The first invalid input of the row, or a malformed id. */
function* invalidInputs(name: string, row: Row): Generator<Change> {
  const [wrong] = row.wrong ?? [];
  const wrongType = wrongTypeOf(name);
  const parameter = requiredRole(row)?.parameter ?? idParameterOf(row);
  if (wrong) yield { input: wrong.input };
  else if (wrongType?.status === 400) yield { content: wrongType.content };
  else if (parameter !== undefined) yield { input: { [parameter]: idForm.malformed[0] } };
}

function idParameterOf({ children = {} }: Row): string | undefined {
  return (Object.keys(children) as Child[]).find((child) => !isNamedByText(child));
}
