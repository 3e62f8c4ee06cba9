/** What the typed client makes of refusals. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, refusalOf } from '../../src/client.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const reasonOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );

test('a refused operation and a refused upload read the same', async () => {
  const { client } = await addPerson(app);
  const refusal = { status: 404, code: 'NOT_FOUND', message: 'Workspace not found', issues: [] };
  const id = 999_999;
  const file = new File(['%PDF-1.7'], 'a.pdf', { type: 'application/pdf' });
  for (const call of [client.labels.list.query({ id }), client.upload({ id, file })]) {
    const found = refusalOf(await reasonOf(call));
    expect(found).toMatchObject(refusal);
    expect(found?.requestId).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test('a server that is not there refused nothing', async () => {
  const nobody = createClient({ url: 'http://127.0.0.1:1', token: 'lns_x' });
  const reason = await reasonOf(nobody.workspaces.list.query());
  expect(reason).toBeInstanceOf(Error);
  expect(refusalOf(reason)).toBeNull();
});

test('the token may change between calls', async () => {
  const { token, name } = await addPerson(app);
  let current: string | undefined;
  const client = createClient({ url: `${app.url}/`, token: () => current });
  expect(refusalOf(await reasonOf(client.auth.me.query()))?.code).toBe('UNAUTHORIZED');
  current = token;
  expect((await client.auth.me.query()).user.name).toBe(name);
});
