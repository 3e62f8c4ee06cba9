/** The document says which reads have an `ETag`, and return 304 to a caller that sends it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rows } from '../contract/operations.ts';
import { validCall } from '../contract/row.ts';
import { createWorld, type Scene, type World } from '../contract/scene.ts';
import { findOperation, findRawOperation, viaRest } from '../contract/transports.ts';
import { document } from '../support/api.ts';
import { startTestApp } from '../support/test-app.ts';
import { listOperations } from './document.ts';

let world: World;
let scene: Scene;
beforeAll(async () => {
  world = await createWorld(await startTestApp());
  scene = await world.addScene();
});
afterAll(() => world.app.close());

// The response of a stream of events never ends.
const reads = Object.keys(rows).filter(
  (name) => findOperation(name).method === 'GET' && findRawOperation(name)?.response.kind !== 'events',
);

const entries = new Map(listOperations(document).map((entry) => [entry.name, entry]));

test.each(reads)('%s', async (name) => {
  const row = rows[name];
  const entry = entries.get(`GET ${findOperation(name).path}`);
  if (!row || !entry) throw new Error(`No operation ${name}`);
  const { responses } = entry;
  const hasTag = '304' in responses;
  expect('ETag' in (responses[200]?.headers ?? {})).toBe(hasTag);
  const call = validCall(name, row, scene, (await row.caller?.(world)) ?? scene.owner);
  const { status } = await viaRest(world.app, { ...call, headers: { ...call.headers, 'if-none-match': '*' } });
  expect(status).toBe(hasTag ? 304 : 200);
});
