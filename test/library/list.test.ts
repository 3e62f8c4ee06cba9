/** Listing the library: search, label, order, pages and total, compared with a computation in plain code. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../support/http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
let labelId: number;

type Item = { id: number; name: string; size: number; created_at: number };

/** Names with different cases, scripts and wildcards, and a pair that differs only in case. */
const NAMES = [
  'banana.pdf',
  'Apple.pdf',
  'apple.pdf',
  'cherry 100%.pdf',
  'cherry_1.pdf',
  'cherryX1.pdf',
  'back\\slash.pdf',
  'ÄPFEL.pdf',
  'Ärger.pdf',
  'Договор.pdf',
  'ДОГОВОР 2.pdf',
  "quote'd.pdf",
  'a"b.pdf',
  'emoji 🐈.pdf',
];

const items: Item[] = [];

beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date('2026-05-01T00:00:00Z') });
  team = await addTeam(app);
  const { body } = await app.http.post(`${team.path}/labels`, team.owner.token, { name: 'Even' });
  labelId = body.label.id;
  for (const [index, name] of NAMES.entries()) {
    // Two items each have the same size and time, so that there are ties.
    const bytes = Buffer.concat([Buffer.from('%PDF-1.4\n'), Buffer.alloc(100 - (index >> 1), ' ')]);
    const { body } = await upload(app, team.path, team.member.token, Uint8Array.from(bytes), { fields: { name } });
    items.push(body.item);
    if (index % 2 === 0)
      await app.http.post(`${team.path}/library/${body.item.id}/labels`, team.member.token, { labelId });
    if (index % 2 === 1) app.clock.advance(60_000);
  }
  // An item of another workspace, which must not be listed.
  const other = await addTeam(app, 'Other');
  await upload(app, other.path, other.member.token, undefined, { fields: { name: 'apple.pdf' } });
});
afterAll(() => app.close());

function list(query: Record<string, string | number>): Promise<Answer> {
  const entries = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
  return app.http.get(`${team.path}/library?${new URLSearchParams(entries)}`, team.member.token);
}

function idsOf({ body }: Answer): number[] {
  return body.items.map(({ id }: Item) => id);
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const comparators = {
  date: (a: Item, b: Item) => a.created_at - b.created_at || a.id - b.id,
  name: (a: Item, b: Item) => byCodeUnits(a.name.toLowerCase(), b.name.toLowerCase()) || a.id - b.id,
  size: (a: Item, b: Item) => a.size - b.size || a.id - b.id,
};

function sorted(sort: keyof typeof comparators, order: string): number[] {
  const ascending = [...items].sort(comparators[sort]).map(({ id }) => id);
  return order === 'asc' ? ascending : ascending.reverse();
}

describe('the order', () => {
  test.each([
    ['date', 'asc'],
    ['date', 'desc'],
    ['name', 'asc'],
    ['name', 'desc'],
    ['size', 'asc'],
    ['size', 'desc'],
  ] as const)(
    'sort=%s, order=%s: ties are broken by id in the same direction, with and without a filter',
    async (sort, order) => {
      const expected = sorted(sort, order);
      expect(idsOf(await list({ sort, order }))).toEqual(expected);
      expect(idsOf(await list({ sort, order, search: '.PDF' }))).toEqual(expected);
      const even = new Set(items.filter((_, index) => index % 2 === 0).map(({ id }) => id));
      expect(idsOf(await list({ sort, order, label: labelId }))).toEqual(expected.filter((id) => even.has(id)));
    },
  );

  test('is by date, newest first, by default', async () => {
    expect(idsOf(await list({}))).toEqual(sorted('date', 'desc'));
    expect(idsOf(await list({ sort: 'name' }))).toEqual(sorted('name', 'desc'));
    expect(idsOf(await list({ order: 'asc' }))).toEqual(sorted('date', 'asc'));
  });

  test('is tested with real ties', () => {
    expect(new Set(items.map(({ size }) => size)).size).toBe(items.length / 2);
    expect(new Set(items.map(({ created_at }) => created_at)).size).toBe(items.length / 2);
    expect(new Set(items.map(({ name }) => name.toLowerCase())).size).toBe(items.length - 1);
  });
});

describe('the search', () => {
  test.each([
    ['apple', ['Apple.pdf', 'apple.pdf']],
    ['APPLE', ['Apple.pdf', 'apple.pdf']],
    ['pPl', ['Apple.pdf', 'apple.pdf']],
    ['%', ['cherry 100%.pdf']],
    ['0%.p', ['cherry 100%.pdf']],
    ['_', ['cherry_1.pdf']],
    ['y_1', ['cherry_1.pdf']],
    ['\\', ['back\\slash.pdf']],
    ['k\\s', ['back\\slash.pdf']],
    ['\\%', []],
    ['äpfel', ['ÄPFEL.pdf']],
    ['ÄR', ['Ärger.pdf']],
    ['ä', ['ÄPFEL.pdf', 'Ärger.pdf']],
    ['дОгОвОр', ['Договор.pdf', 'ДОГОВОР 2.pdf']],
    ['🐈', ['emoji 🐈.pdf']],
    ["'d", ["quote'd.pdf"]],
    ['a"b', ['a"b.pdf']],
    ["'; drop table users; --", []],
    ['.*', []],
    ['^a', []],
    ['nowhere', []],
    ['y 100', ['cherry 100%.pdf']],
  ])('for %j finds names that contain it, literally and case-insensitively', async (search, names) => {
    const { body } = await list({ search });
    expect(body.items.map(({ name }: Item) => name).sort()).toEqual([...names].sort());
    expect(body.total).toBe(names.length);
  });

  test('for an empty text returns all items', async () => {
    expect((await list({ search: '' })).body.total).toBe(NAMES.length);
  });

  test('does not consider the description', async () => {
    const [first] = items;
    const path = `${team.path}/library/${first?.id}`;
    await app.http.patch(path, team.member.token, { description: 'findme' });
    expect((await list({ search: 'findme' })).body.total).toBe(0);
  });

  test('for a text with NUL or invalid Unicode fails with 400', async () => {
    expect((await list({ search: 'a\u0000' })).status).toBe(400);
    for (const search of ['a\u0000', '\ud800']) {
      const input = encodeURIComponent(JSON.stringify({ id: team.id, search }));
      expect((await app.http.get(`/trpc/library.list?input=${input}`, team.member.token)).status).toBe(400);
    }
  });

  test('is limited to 200 characters', async () => {
    expect((await list({ search: 'x'.repeat(200) })).status).toBe(200);
    expect((await list({ search: 'x'.repeat(201) })).status).toBe(400);
  });
});

describe('pages', () => {
  test('of any size add up to the whole list, and each has the total', async () => {
    const expected = sorted('name', 'asc');
    for (const limit of [1, 3, 5, NAMES.length, 100]) {
      const ids: number[] = [];
      for (let offset = 0; offset < NAMES.length; offset += limit) {
        const page = await list({ sort: 'name', order: 'asc', limit, offset });
        expect(page.body.total).toBe(NAMES.length);
        ids.push(...idsOf(page));
      }
      expect(ids).toEqual(expected);
    }
  });

  test('after the last item are empty and have the total', async () => {
    for (const query of [{}, { search: 'apple' }, { label: labelId }]) {
      const { total } = (await list(query)).body;
      expect(total).toBeGreaterThan(0);
      expect((await list({ ...query, offset: total })).body).toEqual({ items: [], total });
      expect((await list({ ...query, offset: 2_147_483_647 })).body).toEqual({ items: [], total });
    }
  });

  test.each([
    ['limit', '0', 'limit must be an integer between 1 and 100'],
    ['limit', '101', 'limit must be an integer between 1 and 100'],
    ['limit', 'all', 'limit must be an integer between 1 and 100'],
    ['offset', '-1', 'offset must be an integer between 0 and 2147483647'],
    ['offset', '2147483648', 'offset must be an integer between 0 and 2147483647'],
    ['sort', 'id', 'sort must be one of date, name, size'],
    ['sort', 'name;drop table users', 'sort must be one of date, name, size'],
    ['sort', 'toString', 'sort must be one of date, name, size'],
    ['order', 'up', 'order must be one of asc, desc'],
    ['label', 'Even', 'label must be a positive 32-bit integer'],
  ])('with %s=%s fail with 400 and the allowed range', async (name, value, message) => {
    const { status, body } = await list({ [name]: value });
    expect([status, body.message, body.issues]).toEqual([400, message, [{ path: name, message }]]);
  });
});

describe('the label filter', () => {
  test('can be combined with a search', async () => {
    const { body } = await list({ label: labelId, search: 'apple' });
    expect(body).toMatchObject({ total: 1, items: [{ name: 'apple.pdf', labels: [{ id: labelId }] }] });
  });

  test('matches nothing for an unknown label or a label of another workspace', async () => {
    const other = await addTeam(app, 'Third');
    const { body: foreign } = await app.http.post(`${other.path}/labels`, other.owner.token, { name: 'Foreign' });
    for (const label of [2_147_483_647, foreign.label.id])
      expect((await list({ label })).body).toEqual({ items: [], total: 0 });
  });
});

test('a page has 50 items by default and at most 100, and total counts all items after every change', async () => {
  const { path, member, owner } = await addTeam(app, 'Many');
  const { body: first } = await upload(app, path, member.token);
  const { id, workspaceId, ...row } = await app.services.db.libraryItem.findFirstOrThrow({
    where: { id: first.item.id },
  });
  const data = Array.from({ length: 104 }, (_, index) => ({ ...row, workspaceId, fileKey: `copy/${index}` }));
  await app.services.db.libraryItem.createMany({ data });
  const pageOf = async (query: string): Promise<[number, number]> => {
    const { body } = await app.http.get(`${path}/library${query}`, owner.token);
    return [body.items.length, body.total];
  };
  expect(await pageOf('')).toEqual([50, 105]);
  expect(await pageOf('?limit=100')).toEqual([100, 105]);
  expect(await pageOf('?limit=100&offset=100')).toEqual([5, 105]);
  await app.http.delete(`${path}/library/${id}`, member.token);
  expect(await pageOf('?limit=1')).toEqual([1, 104]);
  expect(await pageOf('?limit=1&search=contract')).toEqual([1, 104]);
  await app.services.db.libraryItem.deleteMany({ where: { workspaceId } });
  expect(await pageOf('')).toEqual([0, 0]);
});
