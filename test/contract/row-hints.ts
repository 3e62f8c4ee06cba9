/**
 * What a test says when a list of operations differs from the router: the file, the line, and what to add or remove.
 */

import { readdirSync, readFileSync } from 'node:fs';
import type { Operation } from '../../src/trpc/operations.ts';
import { operations } from '../support/api.ts';
import { rows } from './operations.ts';
import type { Row } from './row.ts';

const root = new URL('../../', import.meta.url);
const PATHS_FILE = 'test/contract/contract-rows.test.ts';
const ROWS_FOLDER = 'test/contract/rows/';
const STATEMENTS_FILE = 'test/http/queries.test.ts';

/** What the scene calls a path parameter, where its name is another one. */
const sceneNames: Record<string, string> = { id: 'workspaceId', name: 'roomName', slug: 'roomName' };

/**
 * A hint for each operation of the router that `names` lacks, and for each name that is no operation. Empty when they
 * agree.
 */
export function rowHints(names: readonly string[] = Object.keys(rows)): string {
  const missing = operations.filter(({ name }) => !names.includes(name));
  const unknown = names.filter((name) => !operations.some((operation) => operation.name === name));
  return [
    ...missing.map((operation) => `${placeOfRow(operation.name)}: add after this line\n  ${suggestRow(operation)}\n`),
    ...unknown.map((name) => `${placeOfRow(name)}: remove '${name}', which the router does not have\n`),
  ].join('');
}

/** The same for a list of methods and paths, such as `GET /api/workspaces`, in the order of the router. */
export function pathHints(listed: readonly string[]): string {
  const served = operations.map(({ method, path }) => `${method} ${path}`);
  const missing = served.flatMap((entry, index) =>
    listed.includes(entry) ? [] : [{ entry, after: served[index - 1] }],
  );
  const unknown = listed.filter((entry) => !served.includes(entry));
  return [
    ...missing.map(({ entry, after }) => `${placeOfPath(after)}: add after this line\n  '${entry}',\n`),
    ...unknown.map((entry) => `${placeOfPath(entry)}: remove '${entry}', which the router does not have\n`),
  ].join('');
}

/** The same for an operation without a number of statements, which a call of it sent. */
export function statementHint(name: string, count: number): string {
  const line = findLastOf(name, linesOf(STATEMENTS_FILE));
  const place =
    line === -1 ? `${STATEMENTS_FILE}: add to STATEMENTS` : `${STATEMENTS_FILE}:${line + 1}: add after this line`;
  return `${place}\n  '${name}': ${count},\n`;
}

/**
 * The last line of the last row of the same feature: the row `library.duplicate` follows the other rows of `library`.
 */
function placeOfRow(name: string): string {
  const files = readdirSync(new URL(ROWS_FOLDER, root)).map((file) => ROWS_FOLDER + file);
  for (const file of files) {
    const lines = linesOf(file);
    const start = findLastOf(name, lines);
    if (start === -1) continue;
    const end = lines.findIndex((text, index) => index >= start && /^ {2}.*\},$/.test(text) && !/^ {3}/.test(text));
    return `${file}:${end + 1}`;
  }
  return `${ROWS_FOLDER}, a new file that test/contract/operations.ts joins`;
}

/** The index of the last line that begins an entry of the same feature; -1 if there is none. */
function findLastOf(name: string, lines: readonly string[]): number {
  const [feature = ''] = name.split('.');
  return lines.findLastIndex((text) => text.startsWith(`  '${feature}.`));
}

function placeOfPath(entry: string | undefined): string {
  const line = linesOf(PATHS_FILE).findIndex((text) => text.trim() === `'${entry}',`);
  return line === -1 ? PATHS_FILE : `${PATHS_FILE}:${line + 1}`;
}

function linesOf(file: string): string[] {
  return readFileSync(new URL(file, root), 'utf8').split('\n');
}

/** A row to start from. Only the author of the operation knows who may call it and what else it takes. */
function suggestRow({ name, method, path, credential, status }: Operation): string {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter);
  const isInWorkspace = parameters.includes('id') || parameters.includes('workspaceId');
  const who = credential === 'required' ? (isInWorkspace ? 'member' : 'user') : 'anyone';
  const input = parameters.map((parameter) => `${parameter}: scene.${sceneNames[parameter] ?? parameter}`);
  const children = parameters.flatMap((parameter) => {
    const message = Object.values(rows).map((row) => new Map(Object.entries(row.children ?? {})).get(parameter));
    const known = message.find((text) => text !== undefined);
    return known === undefined ? [] : [`${parameter}: '${known}'`];
  });
  const fields: [keyof Row, string][] = [
    ['who', `'${who}'`],
    ...(credential === 'optional' ? [['knowsCaller', 'true'] satisfies [keyof Row, string]] : []),
    ['keys', 'true'],
    ...(status === 201 ? [['status', '201'] satisfies [keyof Row, string]] : []),
    ['input', input.length === 0 ? '() => ({})' : `(scene) => ({ ${input.join(', ')} })`],
    ['writes', String(method !== 'GET')],
    ...(children.length > 0 ? [['children', `{ ${children.join(', ')} }`] satisfies [keyof Row, string]] : []),
  ];
  return `'${name}': { ${fields.map(([field, value]) => `${field}: ${value}`).join(', ')} },`;
}
