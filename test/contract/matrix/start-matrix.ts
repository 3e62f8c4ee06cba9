/** A world with one caller of each kind, for the tests of the authorisation matrix. */
import { afterAll, afterEach, beforeAll } from 'vitest';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { rows } from '../operations.ts';
import { type Restorer, saveRows } from '../restore.ts';
import { type Row, unsignedContentOf } from '../row.ts';
import { createWorld, type Scene } from '../scene.ts';
import type { Call, Outcome, Transport } from '../transports.ts';
import { type Caller, type CallerName, createCallers } from './callers.ts';

export type Matrix = {
  app: TestApp;
  scene: Scene;
  callers: Record<CallerName, Caller>;
  restorer: Restorer;
};

// Frozen, so that using a key again does not change `last_used_at`, and dumps can be compared as a whole.
const FROZEN_AT = new Date('2026-06-15T12:00:00Z');

/** Starts the world before the tests of the file, and restores its rows after each. */
export function startMatrix(): () => Matrix {
  let matrix: Matrix | undefined;
  const started = (): Matrix => {
    if (!matrix) throw new Error('The world is started before the first test');
    return matrix;
  };
  beforeAll(async () => {
    const app = await startTestApp({ frozenAt: FROZEN_AT });
    const world = await createWorld(app);
    const scene = await world.addScene();
    const callers = await createCallers(world, scene);
    matrix = { app, scene, callers, restorer: await saveRows(app) };
  });
  afterEach(() => started().restorer.restore());
  afterAll(async () => {
    await started().restorer.close();
    await started().app.close();
  });
  return started;
}

export function findRow(name: string): Row {
  const row = rows[name];
  if (!row) throw new Error(`No row ${name}`);
  return row;
}

/** Makes the valid call of an operation as the caller, with parts of it replaced. The input is merged. */
export function callAs(
  { app, scene, callers }: Matrix,
  transport: Transport,
  name: string,
  callerName: CallerName,
  { input, ...others }: Partial<Pick<Call, 'input' | 'content'>> = {},
): Promise<Outcome> {
  const row = findRow(name);
  const { token, user } = callers[callerName];
  return transport(app, {
    name,
    token,
    ...unsignedContentOf(row, scene),
    ...others,
    input: { ...row.input(scene, user), ...input },
  });
}
