/** Enforces which folder writes each table, as `tables.ts` states. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { partOf } from './layers.ts';
import { tables } from './tables.ts';
import { tablesOf, writesOf } from './writers.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const models = tablesOf(await readFile(join(root, 'prisma/schema.prisma'), 'utf8'));

const paths = (await readdir(join(root, 'src'), { recursive: true }))
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts') && !path.startsWith('db/generated/'))
  .sort();

/** Each table that a file writes. */
const writes = (
  await Promise.all(
    paths.map(async (path) => {
      const text = await readFile(join(root, 'src', path), 'utf8');
      return writesOf(text, models).map((table) => ({ path, table }));
    }),
  )
).flat();

function isOwn(path: string, table: string): boolean {
  return partOf(`src/${path}`) === tables[table]?.by;
}

describe('the tables', () => {
  test('all have one folder that writes them', () => {
    expect(models.size).toBeGreaterThan(50);
    expect(Object.keys(tables).sort()).toEqual(['*', ...models.values()].sort());
    const owners = Object.keys(tables).filter((table) =>
      writes.some((one) => one.table === table && isOwn(one.path, table)),
    );
    expect(owners).toEqual(Object.keys(tables).filter((table) => tables[table]?.by !== 'a trigger'));
  });

  test('are written by that folder, and by the files that are listed with a reason', () => {
    const others = writes
      .filter(({ path, table }) => !isOwn(path, table))
      .map(({ path, table }) => `${table}: ${path}`);
    const listed = Object.entries(tables).flatMap(([table, { except = {} }]) =>
      Object.keys(except).map((path) => `${table}: ${path}`),
    );
    expect(others.sort()).toEqual(listed.sort());
  });

  test('have a reason for every exception', () => {
    const reasons = Object.values(tables).flatMap(({ except = {} }) => Object.values(except));
    for (const reason of reasons) expect(reason).toMatch(/^[a-z].{20,}[^.]$/);
  });
});

describe('a write', () => {
  test.each([
    ['insert into labels (name) values ($name)', 'labels'],
    ['insert into labels as l (name) values ($name)', 'labels'],
    ['INSERT INTO "labels" (name) VALUES ($1)', 'labels'],
    ['update labels set name = $name', 'labels'],
    ['with changed as (update labels l set name = $name returning id)', 'labels'],
    ['update only labels as l\n      set name = $name', 'labels'],
    ['delete from labels where id = $id', 'labels'],
    ['delete from only labels', 'labels'],
    ['truncate labels', 'labels'],
    ['merge into labels l using n on true', 'labels'],
    ['await tx.label.create({ data })', 'labels'],
    ['await tx.label\n      .updateManyAndReturn({ where })', 'labels'],
    ['db.label.deleteMany({ where })', 'labels'],
    ['tx.itemLabel.createMany({ data })', 'item_labels'],
    ['update $' + '{table} set sealed = $sealed', '*'],
    ['delete from $' + '{table} o using page t', '*'],
  ])('%s is found', (code, table) => {
    expect(writesOf(code, models)).toEqual([table]);
  });

  test.each([
    'select id from labels where id = $id for update',
    'select l.id from labels l for no key update of l',
    'insert into added (id) select 1',
    'on conflict (id) do update set name = excluded.name',
    ' * Deletes the rows: delete from labels',
    '// update labels set name = null',
    'await tx.label.findMany({ where })',
    'listeners.delete(label)',
  ])('%s is none', (code) => {
    expect(writesOf(code, models)).toEqual([]);
  });
});
