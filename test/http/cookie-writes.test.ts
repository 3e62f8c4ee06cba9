/** Every operation that writes refuses the session cookie from a page of another site. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rows } from '../contract/operations.ts';
import { allowedRoles, validCall } from '../contract/row.ts';
import { createWorld, type Scene } from '../contract/scene.ts';
import { isQuery, isServed, transports } from '../contract/transports.ts';
import { type Dump, dumpTables } from '../support/dump.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

let app: TestApp;
let scene: Scene;
let before: Dump;
beforeAll(async () => {
  app = await startTestApp();
  scene = await (await createWorld(app)).addScene();
  before = await dumpTables(app);
});
afterAll(() => app.close());

/** What a session may call, except for operations that only read. */
const writes = Object.entries(rows).filter(
  ([name, row]) => row.who !== 'provider' && (row.who !== 'anyone' || row.acceptsCredential) && !isQuery(name),
);

test.each(writes)('%s', async (name, row) => {
  const by = scene[allowedRoles(row).at(-1) ?? 'owner'];
  const headers = { cookie: `session=${by.token}`, origin: 'https://evil.example' };
  for (const [, transport] of transports) {
    if (!isServed(name, transport)) continue;
    const call = validCall(name, row, scene, by);
    const { status, body } = await transport(app, {
      ...call,
      token: undefined,
      headers: { ...call.headers, ...headers },
    });
    expect([status, body]).toEqual([
      403,
      expect.objectContaining({
        message: 'Cross-origin request refused: add the origin of the page to CORS_ORIGINS, or send a token',
      }),
    ]);
  }
});

test('none of them has written anything', async () => {
  expect(writes.length).toBeGreaterThan(60);
  expect(await dumpTables(app)).toEqual(before);
});
