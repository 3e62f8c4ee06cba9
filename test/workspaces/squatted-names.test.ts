import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('somebody who takes the next slugs of a name in advance does not block the name', async () => {
  const { client } = await addPerson(app);
  for (let number = 2; number <= 30; number += 1) await client.workspaces.create.mutate({ name: `Personal ${number}` });
  const people = await Promise.all(Array.from({ length: 5 }, () => addPerson(app, 'Late')));
  const slugs = await Promise.all(
    people.map(async (person) => (await person.client.workspaces.list.query()).workspaces[0]?.slug ?? ''),
  );
  expect(new Set(slugs).size).toBe(5);
  for (const slug of slugs) expect(slug).toMatch(/^personal-/);
});
