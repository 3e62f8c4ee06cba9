/** The schemas of the OpenAPI document: their names, the bounds of integers, nullable fields and flags. */
import { expect, test } from 'vitest';
import { posterTypes } from '../../src/media/poster-image.ts';
import { rewriteSchemas } from '../../src/openapi/schemas.ts';
import { fileTypes } from '../../src/trpc/raw-operation.ts';
import { document as apiDocument } from '../support/api.ts';
import { type Json, listOperations, listSchemas, nodesOf } from './document.ts';

/** Files, and parts of files, whose format OpenAPI does not describe. */
const textTypes: string[] = [
  ...Object.values(fileTypes),
  ...posterTypes,
  'image/png',
  'application/offset+octet-stream',
];
const schemas = listSchemas(apiDocument);
const operations = listOperations(apiDocument);

function isReference(schema: Json | undefined): boolean {
  return typeof schema?.$ref === 'string';
}

test('every body and every response is a named component, or text', () => {
  const contents = operations.flatMap(({ name, requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].flatMap((holder) =>
      Object.entries(holder?.content ?? {}).map(([type, { schema }]) => ({ name, type, schema })),
    ),
  );
  expect(contents.length).toBeGreaterThan(100);
  expect(contents.filter(({ type, schema }) => !textTypes.includes(type) && !isReference(schema))).toEqual([]);
});

test('the entries of lists and the members of unions are named components, or not objects', () => {
  const nested = [...nodesOf(apiDocument)].flatMap(({ node, path }) =>
    [node.items, node.oneOf, node.anyOf].flat().map((schema) => ({ path, schema: schema as Json | undefined })),
  );
  expect(nested.length).toBeGreaterThan(30);
  expect(nested.filter(({ schema }) => schema?.properties !== undefined)).toEqual([]);
});

test('names are unique whatever their case, and in PascalCase', () => {
  const names = Object.keys(schemas);
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name) => !/^(?:[A-Z][a-z]+)+$/.test(name))).toEqual([]);
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(['RegisterRequest', 'Session', 'LibraryPage', 'Recording', 'Error']));
  // The generator adds this suffix to the second of two different schemas with one name.
  expect(names.filter((name) => name.endsWith('Output'))).toEqual([]);
});

test('every parameter, and every field of a request, has a description', () => {
  const parameters = operations.flatMap(({ name, parameters = [] }) =>
    (parameters as Json[]).map((parameter) => ({
      name,
      field: parameter.name,
      schemas: [parameter, parameter.schema],
    })),
  );
  const fields = Object.entries(schemas)
    .filter(([name]) => name.endsWith('Request'))
    .flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).map(([field, schema]) => ({ name, field, schemas: [schema] })),
    );
  expect(parameters.length).toBeGreaterThan(200);
  expect(fields.length).toBeGreaterThan(100);
  const lacking = [...parameters, ...fields].filter(({ schemas }) => !(schemas as Json[]).some(hasDescription));
  expect(lacking.map(({ name, field }) => `${name}: ${field}`)).toEqual([]);
});

/** A reference has the description of what it refers to. */
function hasDescription(schema: Json | undefined): boolean {
  return typeof schema?.description === 'string' || isReference(schema);
}

test('every component is used', () => {
  const text = JSON.stringify(apiDocument);
  expect(Object.keys(schemas).filter((name) => !text.includes(`"#/components/schemas/${name}"`))).toEqual([]);
});

test('two schemas with one name are an error', () => {
  const body = { title: 'Label', type: 'object' };
  const named = (components: Json): Json => ({ body, components: { schemas: components } });
  expect(() => rewriteSchemas(named({ Label: { type: 'object' } }) as never)).not.toThrow();
  expect(() => rewriteSchemas(named({ Label: { type: 'string' } }) as never)).toThrow(
    'Two schemas have the name Label',
  );
});

test('no integer has the bounds of a JavaScript number, and every integer has a minimum or values', () => {
  expect(JSON.stringify(apiDocument).includes(String(Number.MAX_SAFE_INTEGER))).toBe(false);
  const integers = [...nodesOf(apiDocument)].filter(({ node }) => [node.type].flat().includes('integer'));
  expect(integers.length).toBeGreaterThan(200);
  expect(integers.filter(({ node }) => node.minimum === undefined && node.enum === undefined)).toEqual([]);
});

test('an integer has 64 bits if and only if it may exceed 32', () => {
  const integers = [...nodesOf(apiDocument)].filter(({ node }) => [node.type].flat().includes('integer') && !node.enum);
  for (const { node, path } of integers)
    expect([path, node.format]).toEqual([path, Number(node.maximum ?? 2 ** 63) > 2 ** 31 - 1 ? 'int64' : undefined]);
});

test('a nullable schema has the type null beside its own, unless it is a reference', () => {
  const isNull = (schema: Json): boolean => schema.type === 'null';
  const unions = [...nodesOf(apiDocument)].flatMap(({ node }) => (Array.isArray(node.anyOf) ? [node.anyOf] : []));
  for (const union of unions.filter((members) => members.some(isNull)))
    expect(union.filter((member) => !isNull(member) && !isReference(member))).toEqual([]);
  expect(schemas.LibraryItem?.properties?.duration).toMatchObject({ type: ['integer', 'null'] });
  expect(JSON.stringify(apiDocument).includes('"nullable"')).toBe(false);
});

test('no parameter and no form field may be null, because their text would be "null"', () => {
  const inText = operations.flatMap(({ name, parameters = [], requestBody }) => {
    const forms = Object.entries(requestBody?.content ?? {}).filter(([type]) => type !== 'application/json');
    const schemasOfForms = forms.map(([, { schema }]) => resolve(schema));
    return [...(parameters as Json[]).map(resolve), ...schemasOfForms].map((schema) => ({ name, schema }));
  });
  expect(inText.length).toBeGreaterThan(200);
  const mayBeNull = ({ node }: { node: Json }): boolean =>
    [node.type, node.enum, node.nullable && 'null'].flat().some((value) => value === 'null' || value === null);
  expect(inText.filter(({ schema }) => [...nodesOf(schema)].some(mayBeNull))).toEqual([]);
});

/** The component that a reference names. A schema without a reference is returned as it is. */
function resolve(schema: Json): Json {
  const path = typeof schema.$ref === 'string' ? schema.$ref.split('/').slice(1) : null;
  // `as`: a reference of this document leads to a schema or a parameter.
  return path === null ? schema : path.reduce((node, key) => node[key] as Json, apiDocument as unknown as Json);
}

test('no field has only the type null, which openapi-fetch takes for a field that cannot be read', () => {
  const fields = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
    Object.entries(properties).map(([field, { type }]) => ({ field: `${name}.${field}`, type })),
  );
  expect(fields.length).toBeGreaterThan(300);
  expect(fields.filter(({ type }) => type === 'null')).toEqual([]);
});

test('flags are the values 0 and 1', () => {
  const nodes = [...nodesOf(apiDocument)].map(({ node }) => node);
  expect(nodes.filter(({ minimum, maximum }) => minimum === 0 && maximum === 1)).toEqual([]);
  expect(schemas.ApiKey?.properties?.is_active).toMatchObject({ type: 'integer', enum: [0, 1] });
});
