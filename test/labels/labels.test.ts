/** Labels: valid names and colors, updates of single fields, and the order of the list. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
let labels: string;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  labels = `${team.path}/labels`;
});
afterAll(() => app.close());

function create(json: unknown, path = labels) {
  return app.http.post(path, team.admin.token, json);
}

describe('the name of a label', () => {
  test.each([
    ['is trimmed', '  Two words\t', 'Two words'],
    ['may have one character', 'x', 'x'],
    ['may have 64 characters', 'a'.repeat(64), 'a'.repeat(64)],
    ['may have 64 characters of two code units each', '🐈'.repeat(64), '🐈'.repeat(64)],
    ['may be in any script', 'Договоры 契約 עברית', 'Договоры 契約 עברית'],
    ['may contain joined emoji', '👩‍👩‍👧‍👦', '👩‍👩‍👧‍👦'],
    ['is stored unchanged if it looks like markup', `<script>alert('"')</script>`, `<script>alert('"')</script>`],
    ['may look like a formula', '=cmd|/C calc!A0', '=cmd|/C calc!A0'],
    ['may contain SQL', `'; drop table labels; --`, `'; drop table labels; --`],
    ['may contain a backslash and a percent sign', '100 % \\ _', '100 % \\ _'],
  ])('%s', async (_, sent, stored) => {
    const { status, body } = await create({ name: sent });
    expect(status).toBe(200);
    expect(body.label.name).toBe(stored);
    const list = await app.http.get(labels, team.member.token);
    expect(list.body.labels.at(-1)).toMatchObject({ id: body.label.id, name: stored });
  });

  test.each([
    ['65 characters', 'a'.repeat(65), 'name must have at most 64 characters'],
    ['65 characters of two code units', '🐈'.repeat(65), 'name must have at most 64 characters'],
    ['a NUL', 'a\u0000b', 'name must not contain control characters or invalid Unicode'],
    ['a lone surrogate', 'a\ud800b', 'name must not contain control characters or invalid Unicode'],
    ['a line feed', 'a\nb', 'name must not contain control characters or invalid Unicode'],
    ['an empty text', '', 'Name is required'],
    ['only spaces', ' \u00a0\u3000', 'Name is required'],
  ])('is refused with %s', async (_, name, message) => {
    const { status, body } = await create({ name });
    expect(status).toBe(400);
    expect(body).toMatchObject({ message, issues: [{ path: 'name', message }] });
  });

  test('is unique by its normalized text: a different case or joiner makes a different name', async () => {
    const names = ['Caf\u00e9', 'caf\u00e9', 'Caf\u00e9\u200d'];
    for (const name of names) expect((await create({ name })).status).toBe(200);
    for (const name of names) expect((await create({ name: ` ${name} ` })).status).toBe(409);
    for (const name of ['Cafe\u0301', 'Caf\u00e9\u202e']) expect((await create({ name })).status).toBe(409);
  });

  test('needs to be unique in its workspace only', async () => {
    const other = await addTeam(app, 'Other');
    await create({ name: 'Everywhere' });
    expect((await app.http.post(`${other.path}/labels`, other.owner.token, { name: 'Everywhere' })).status).toBe(200);
  });

  test('may be used again after its label was deleted or renamed', async () => {
    const { body } = await create({ name: 'Passing' });
    await app.http.patch(`${labels}/${body.label.id}`, team.owner.token, { name: 'Elsewhere' });
    const second = await create({ name: 'Passing' });
    expect(second.status).toBe(200);
    await app.http.delete(`${labels}/${second.body.label.id}`, team.owner.token);
    expect((await create({ name: 'Passing' })).status).toBe(200);
  });
});

describe('the color of a label', () => {
  test.each(['#abc', '#ABC', '#aBcDeF', '#000000'])('%s is stored unchanged', async (color) => {
    const { body } = await create({ name: `Color ${color}`, color });
    expect(body.label.color).toBe(color);
  });

  test.each([
    '#GGGGGG',
    'red;}',
    '#abcd',
    '#abcdef0',
    'abcdef',
    '#abcdef\n',
    ' #abcdef',
    '＃abcdef',
    5,
    ['#abcdef'],
    {},
  ])('%j is refused', async (color) => {
    const { status, body } = await create({ name: 'Wrong color', color });
    expect(status).toBe(400);
    expect(body.issues).toMatchObject([{ path: 'color' }]);
  });
});

test('a color of null is the default, as if it was not sent', async () => {
  expect((await create({ name: 'Null color', color: null })).body.label.color).toBe('#6366f1');
});

describe('changing a label', () => {
  const newLabel = async (name: string): Promise<{ path: string; label: Record<string, unknown> }> => {
    const { body } = await create({ name, color: '#123456' });
    return { path: `${labels}/${body.label.id}`, label: body.label };
  };

  test('changes only the fields that are sent', async () => {
    const { path, label } = await newLabel('Only sent');
    const named = await app.http.patch(path, team.owner.token, { name: 'Only name' });
    expect(named.body.label).toEqual({ ...label, name: 'Only name' });
    const colored = await app.http.patch(path, team.owner.token, { color: '#fff' });
    expect(colored.body.label).toEqual({ ...label, name: 'Only name', color: '#fff' });
  });

  test('changes nothing without a body or with an empty one', async () => {
    const { path, label } = await newLabel('Unchanged');
    for (const json of [undefined, {}])
      expect(await app.http.patch(path, team.owner.token, json)).toMatchObject({ status: 200, body: { label } });
    expect((await app.http.patch(`${labels}/2147483647`, team.owner.token, {})).status).toBe(404);
  });

  test('to its current name is not a conflict', async () => {
    const { path } = await newLabel('Own name');
    expect((await app.http.patch(path, team.owner.token, { name: ' Own name ' })).status).toBe(200);
  });

  test('ignores fields that only the service sets', async () => {
    const other = await addTeam(app, 'Elsewhere');
    const { path, label } = await newLabel('Kept');
    const { body } = await app.http.patch(path, team.owner.token, {
      id: 1,
      workspace_id: other.id,
      workspaceId: other.id,
      labelId: 1,
      created_by: other.owner.id,
      createdBy: other.owner.id,
      created_at: 0,
      createdAt: '1970-01-01T00:00:00Z',
    });
    expect(body.label).toEqual(label);
    const created = await create({ name: 'Kept too', id: 1, workspace_id: other.id, created_by: other.owner.id });
    expect(created.body.label).toMatchObject({ workspace_id: team.id, created_by: team.admin.id });
    expect(created.body.label.id).not.toBe(1);
  });
});

test('labels are in the order of their creation, and by id if created at the same time', async () => {
  const held = await startTestApp({ frozenAt: new Date('2026-03-01T00:00:00Z') });
  try {
    const { path, owner } = await addTeam(held);
    const names = ['Zebra', 'apple', 'Mango', 'banana'];
    for (const name of names) await held.http.post(`${path}/labels`, owner.token, { name });
    held.clock.advance(-60_000);
    await held.http.post(`${path}/labels`, owner.token, { name: 'Earlier' });
    const { body } = await held.http.get(`${path}/labels`, owner.token);
    expect(body.labels.map(({ name }: { name: string }) => name)).toEqual(['Earlier', ...names]);
    const { body: uploaded } = await upload(held, path, owner.token);
    const itemLabels = `${path}/library/${uploaded.item.id}/labels`;
    for (const { id } of [...body.labels].reverse()) await held.http.post(itemLabels, owner.token, { labelId: id });
    const { body: read } = await held.http.get(`${path}/library/${uploaded.item.id}`, owner.token);
    expect(read.item.labels.map(({ name }: { name: string }) => name)).toEqual(['Earlier', ...names]);
  } finally {
    await held.close();
  }
});
