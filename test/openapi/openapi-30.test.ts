/** The document as OpenAPI 3.0 is valid, and says everything that the document as 3.1 says. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { convertToOpenApi30 } from '../../scripts/convert-openapi.ts';
import { createOpenApiDocument } from '../../src/openapi/document.ts';
import { readOpenApi30 } from '../../src/openapi/openapi-30.ts';
import { api, document } from '../support/api.ts';
import { type Json, listOperations, listSchemas, nodesOf } from './document.ts';

// JSON as sent: without the fields whose value is undefined.
const document31 = JSON.parse(JSON.stringify(document));
const document30 = JSON.parse(JSON.stringify(await readOpenApi30(document)));

test('it is valid by the JSON schema of OpenAPI 3.0', async () => {
  expect(document30.openapi).toBe('3.0.3');
  expect(await new Validator().validate(document30)).toEqual({ valid: true });
  const broken = { ...document30, webhooks: document31.webhooks };
  expect(await new Validator().validate(broken)).toMatchObject({ valid: false });
});

test('it has the operations, fields, errors, examples and texts of 3.1', () => {
  const { openapi: _, info, webhooks, ...rest } = document31;
  const { openapi: __, info: info30, 'x-webhooks': webhooks30, ...rest30 } = document30;
  expect(info30).toEqual({ ...info, license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' } });
  expect(toCommonForm(rest30)).toEqual(toCommonForm(rest));
  expect(toCommonForm(webhooks30)).toEqual(toCommonForm(webhooks));
  expect(listOperations(document30).length).toBeGreaterThan(180);
  expect(Object.keys(listSchemas(document30))).toEqual(Object.keys(listSchemas(document31)));
});

test('the URL and the code samples are those of the service', async () => {
  const public31 = createOpenApiDocument(api, 'https://lynxroom.example.com');
  const public30 = JSON.parse(JSON.stringify(await readOpenApi30(public31)));
  expect(public30).toEqual(JSON.parse(JSON.stringify(convertToOpenApi30(public31))));
  expect(public30.servers).toEqual([{ url: 'https://lynxroom.example.com' }]);
  const samples = JSON.stringify(public30.paths['/api/workspaces'].get['x-codeSamples']);
  expect(samples).toContain('https://lynxroom.example.com/api/workspaces');
});

test('its schemas have the forms of 3.0', () => {
  const { LibraryItem, ApiKey, WorkspaceUsage, FullMedia, Media, CreateApiKeyRequest } = listSchemas(document30);
  expect(LibraryItem?.properties?.duration).toMatchObject({ type: 'integer', nullable: true });
  expect(ApiKey?.properties?.previous_key).toMatchObject({
    allOf: [{ $ref: '#/components/schemas/PreviousApiKey' }],
    nullable: true,
  });
  expect(WorkspaceUsage?.properties?.items).toMatchObject({
    description: expect.any(String),
    allOf: [{ $ref: expect.any(String) }],
  });
  expect(FullMedia?.properties?.kind).toEqual({ type: 'string', enum: ['full'] });
  expect(CreateApiKeyRequest?.properties?.belongs_to).toMatchObject({
    type: 'string',
    enum: ['user', 'workspace'],
    nullable: true,
  });
  expect(JSON.stringify(document30)).not.toContain('\\\\/');
  expect(Media?.discriminator).toMatchObject({ propertyName: 'kind' });
});

test('a conversion loses no field of a schema', () => {
  const field = { type: ['string', 'null'], maxLength: 3, examples: ['a'], description: 'One' };
  const schema = {
    type: 'object',
    properties: { example: field, default: { type: 'array', items: field }, const: { const: false } },
    additionalProperties: { anyOf: [{ $ref: '#/a' }, { $ref: '#/b' }, { type: 'null' }] },
  };
  const { components } = convertToOpenApi30({
    info: { license: { identifier: 'MIT' } },
    components: { schemas: { A: schema } },
  });
  const converted = { type: 'string', nullable: true, maxLength: 3, example: 'a', description: 'One' };
  expect(components).toEqual({
    schemas: {
      A: {
        type: 'object',
        properties: { example: converted, default: { type: 'array', items: converted }, const: { enum: [false] } },
        additionalProperties: { anyOf: [{ $ref: '#/a' }, { $ref: '#/b' }], nullable: true },
      },
    },
  });
});

test('no schema of 3.1 has several examples, of which 3.0 would keep the first', () => {
  const lists = [...nodesOf(document31)].flatMap(({ node }) => (Array.isArray(node.examples) ? [node.examples] : []));
  expect(lists.length).toBeGreaterThan(20);
  expect(lists.filter(({ length }) => length !== 1)).toEqual([]);
});

/** Rewrites what 3.0 and 3.1 spell differently into one form, and leaves everything else as it is. */
function toCommonForm(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(toCommonForm);
  if (!isNode(node)) return node;
  const {
    $ref,
    enum: values,
    pattern,
    const: value,
    examples,
    nullable,
    propertyNames,
    anyOf = [],
    allOf = [],
    ...rest
  } = node;
  // `as`: these keywords have lists of schemas.
  const members = (anyOf as Json[]).filter(({ type }) => type !== 'null');
  const isOfTypes = members.length > 0 && members.every((member) => Object.keys(member).join() === 'type');
  const hasOneMember = members.length === 1 && !isOfTypes;
  const references = [
    ...($ref === undefined ? [] : [{ $ref }]),
    ...(hasOneMember ? members : []),
    ...(allOf as Json[]),
  ];
  const types = [rest.type ?? [], isOfTypes ? members.map(({ type }) => type) : []].flat(2);
  const mayBeNull = nullable === true || types.includes('null') || (anyOf as Json[]).length > members.length;
  return {
    ...mapValues(rest, (child, key) => {
      if (key === 'example') return child;
      // The keys of `properties` are the names of fields, which may be `example` or `type`.
      return key === 'properties' && isNode(child) ? mapValues(child, toCommonForm) : toCommonForm(child);
    }),
    ...(types.length > 0 && { type: types.filter((type) => type !== 'null') }),
    ...(mayBeNull && { mayBeNull }),
    ...(references.length > 0 && { references }),
    ...(members.length > 0 && !isOfTypes && !hasOneMember && { anyOf: members.map(toCommonForm) }),
    ...(Array.isArray(values) && { enum: values.filter((each) => each !== null) }),
    ...(value !== undefined && { enum: [value] }),
    ...(pattern !== undefined && { pattern: new RegExp(String(pattern)).source }),
    ...(propertyNames !== undefined && { 'x-propertyNames': toCommonForm(propertyNames) }),
    // A schema of 3.1 has a list. The examples of parameters and bodies are an object in both versions.
    ...(Array.isArray(examples) ? { example: examples[0] } : examples !== undefined && { examples }),
  };
}

function isNode(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapValues(node: object, change: (value: unknown, key: string) => unknown): Json {
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, change(value, key)]));
}
