/** What a test says if a list of operations differs from the API: the file, the line, and what to add or remove. */

import { readdirSync, readFileSync } from 'node:fs';
import type { RawOperation } from '../../src/trpc/raw-operation.ts';
import { operations, rawOperations } from '../support/api.ts';
import { rows } from './operations.ts';
import type { Row } from './row.ts';

const root = new URL('../../', import.meta.url);
const PATHS_FILE = 'test/contract/paths.test.ts';
const ROWS_FOLDER = 'test/contract/rows/';
const ROWS_INDEX = 'test/contract/operations.ts';
const TESTS_FOLDER = 'test/contract/operations/';
const STATEMENTS_FILE = 'test/http/queries.test.ts';

/** The property of the scene for a path parameter, if it has another name. */
const sceneNames: Record<string, string> = { id: 'workspaceId', name: 'roomName', slug: 'roomName' };

/** The content that is suggested for the row of a raw operation. */
const contents: Record<RawOperation['request']['kind'], string | null> = {
  multipart: "fileContent(makePdf(), 'file.pdf', 'application/pdf')",
  csv: "csvContent('name,email')",
  bytes: "({ body: '' })",
  stream: 'bytesContent(pdfOf(100))',
  none: null,
};

/** The parts of an operation from which a row is suggested. */
type Described = { name: string; path: string } & Pick<Row, 'who' | 'acceptsCredential' | 'status' | 'writes'> & {
    content: string | null;
  };

const procedures = operations.map(
  ({ name, path, method, credential, status }): Described => ({
    name,
    path,
    who: credential !== 'required' ? 'anyone' : /\{(?:id|workspaceId)\}/.test(path) ? 'member' : 'user',
    ...(credential === 'optional' && { acceptsCredential: true }),
    ...(status === 201 && { status }),
    writes: method !== 'GET',
    content: null,
  }),
);

const raw = rawOperations.map(
  ({ name, path, method, access, request }): Described => ({
    name,
    path,
    who: access.credential === 'required' ? (access.minRole ?? 'user') : 'provider',
    writes: method !== 'GET',
    content: contents[request.kind],
  }),
);

/**
 * A hint for each operation that `names` lacks, and for each name that is no operation. Empty if they agree. The rows
 * are in `files`.
 */
export function rowHints(
  names: readonly string[] = Object.keys(rows),
  files: readonly string[] = readdirSync(new URL(ROWS_FOLDER, root)),
): string {
  const described = [...procedures, ...raw];
  const missing = described.filter(({ name }) => !names.includes(name));
  const unknown = names.filter((name) => !described.some((operation) => operation.name === name));
  return [
    ...missing.map((operation) => hintToAdd(operation, files)),
    ...unknown.map(
      (name) => `${placeOfRow(name, files) ?? ROWS_FOLDER}: remove '${name}', which the API does not have\n`,
    ),
  ].join('');
}

/** The same for a list of methods and paths, such as `GET /api/workspaces`, in the order of the API. */
export function pathHints(listed: readonly string[]): string {
  const served = [...operations, ...rawOperations].map(({ method, path }) => `${method} ${path}`);
  const missing = served.flatMap((entry, index) =>
    listed.includes(entry) ? [] : [{ entry, after: served[index - 1] }],
  );
  const unknown = listed.filter((entry) => !served.includes(entry));
  return [
    ...missing.map(({ entry, after }) => `${placeOfPath(after)}: add after this line\n  '${entry}',\n`),
    ...unknown.map((entry) => `${placeOfPath(entry)}: remove '${entry}', which the API does not have\n`),
  ].join('');
}

/** The same for an operation without a number of statements, whose call sent `count`. */
export function statementHint(name: string, count: number): string {
  const line = findLastOfFeature(name, linesOf(STATEMENTS_FILE));
  const place =
    line === -1 ? `${STATEMENTS_FILE}: add to STATEMENTS` : `${STATEMENTS_FILE}:${line + 1}: add after this line`;
  return `${place}\n  '${name}': ${count},\n`;
}

function hintToAdd(operation: Described, files: readonly string[]): string {
  const place = placeOfRow(operation.name, files);
  return place === null ? hintForNewFeature(operation) : `${place}: add after this line\n  ${suggestRow(operation)}\n`;
}

/** The hint for a feature without rows: its two new files, and the index that joins the rows of all features. */
function hintForNewFeature(operation: Described): string {
  const [feature = ''] = operation.name.split('.');
  return [
    `${ROWS_FOLDER}, a new file with the name of the router: add\n`,
    `  export const ${feature}Rows: Rows = {\n    ${suggestRow(operation)}\n  };\n`,
    `${ROWS_INDEX}: import ${feature}Rows, and add ...${feature}Rows to rows\n`,
    `${TESTS_FOLDER}, a new test file with the name of the router: add\n  testOperations(${feature}Rows);\n`,
  ].join('');
}

/**
 * The last line of the last row of the same feature: `library.duplicate` goes after the other rows of `library`. Null
 * if the feature has no row.
 */
function placeOfRow(name: string, files: readonly string[]): string | null {
  for (const file of files.map((entry) => ROWS_FOLDER + entry)) {
    const lines = linesOf(file);
    const start = findLastOfFeature(name, lines);
    if (start === -1) continue;
    const end = lines.findIndex((text, index) => index >= start && /^ {2}.*\},$/.test(text) && !/^ {3}/.test(text));
    return `${file}:${end + 1}`;
  }
  return null;
}

/** The index of the last line that begins an entry of the same feature. -1 if there is none. */
function findLastOfFeature(name: string, lines: readonly string[]): number {
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
function suggestRow({ name, path, who, acceptsCredential, status, writes, content }: Described): string {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter);
  const input = parameters.map((parameter) => `${parameter}: scene.${sceneNames[parameter] ?? parameter}`);
  const children = parameters.flatMap((parameter) => {
    const messages = Object.values(rows).map((row) => new Map(Object.entries(row.children ?? {})).get(parameter));
    const known = messages.find((text) => text !== undefined);
    return known === undefined ? [] : [`${parameter}: '${known}'`];
  });
  const fields: [field: keyof Row, value: string | null][] = [
    ['who', `'${who}'`],
    ['acceptsCredential', acceptsCredential ? 'true' : null],
    ['keys', 'true'],
    ['status', status === undefined ? null : String(status)],
    ['input', input.length === 0 ? '() => ({})' : `(scene) => ({ ${input.join(', ')} })`],
    ['content', content === null ? null : `() => ${content}`],
    ['writes', String(writes)],
    ['children', children.length === 0 ? null : `{ ${children.join(', ')} }`],
  ];
  const texts = fields.flatMap(([field, value]) => (value === null ? [] : [`${field}: ${value}`]));
  return `'${name}': { ${texts.join(', ')} },`;
}
