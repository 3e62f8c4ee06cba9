/** Every kind of breaking change of the OpenAPI document is found, and no other change. */
import { expect, test } from 'vitest';
import { findBreakingChanges } from '../../scripts/find-breaking-changes.ts';
import { document as apiDocument } from '../support/api.ts';

type Change = Parameters<typeof findBreakingChanges>[0];

/** A document with one operation that takes and returns a label. */
function createDocument() {
  const label = {
    type: 'object',
    required: ['id', 'color'],
    properties: {
      id: { type: 'integer', minimum: 1 },
      color: { type: 'string', enum: ['red', 'blue'] },
      note: { type: ['string', 'null'] },
    },
  };
  const request = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', maxLength: 64 },
      color: { type: 'string', enum: ['red', 'blue'] },
      tags: { type: 'array', items: { type: ['string', 'integer'] } },
    },
  };
  const content = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });
  return {
    paths: {
      '/labels': {
        post: {
          parameters: [
            { $ref: '#/components/parameters/Key' },
            { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100 } },
          ],
          requestBody: { required: false, content: content('Request') },
          responses: { 200: { content: content('Label') }, 404: { $ref: '#/components/responses/NotFound' } },
        },
      },
    },
    components: {
      schemas: { Label: label, Request: request },
      parameters: { Key: { name: 'Key', in: 'header', schema: { type: 'string', maxLength: 255 } } },
      responses: { NotFound: { content: content('Label') } },
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: each test changes another part of the plain JSON
function changesAfter(change: (document: any) => void): string[] {
  const [before, after] = [createDocument(), createDocument()];
  change(after);
  return findBreakingChanges(before as unknown as Change, after as unknown as Change).map(({ text }) => text);
}

const breaking: [string, string, Parameters<typeof changesAfter>[0]][] = [
  ['a removed operation', 'was removed', (d) => delete d.paths['/labels'].post],
  ['a removed parameter', 'query parameter limit was removed', (d) => d.paths['/labels'].post.parameters.pop()],
  [
    'a new required parameter',
    'query parameter order became required',
    (d) => d.paths['/labels'].post.parameters.push({ name: 'order', in: 'query', required: true, schema: {} }),
  ],
  [
    'a lower maximum',
    'query parameter limit has a lower maximum: 50',
    (d) => Object.assign(d.paths['/labels'].post.parameters[1].schema, { maximum: 50 }),
  ],
  [
    'a shared parameter that became required',
    'header parameter Key became required',
    (d) => Object.assign(d.components.parameters.Key, { required: true }),
  ],
  [
    'a body that became required',
    'the body became required',
    (d) => Object.assign(d.paths['/labels'].post.requestBody, { required: true }),
  ],
  [
    'a body of another type',
    'body is no longer application/json',
    (d) => Object.assign(d.paths['/labels'].post.requestBody, { content: {} }),
  ],
  ['a removed request field', 'body.color was removed', (d) => delete d.components.schemas.Request.properties.color],
  [
    'a new required request field',
    'body.color became required',
    (d) => d.components.schemas.Request.required.push('color'),
  ],
  [
    'a narrower request type',
    'body.tags[] no longer accepts the type integer',
    (d) => Object.assign(d.components.schemas.Request.properties.tags.items, { type: 'string' }),
  ],
  [
    'a removed request value',
    'body.color no longer accepts "blue"',
    (d) => Object.assign(d.components.schemas.Request.properties.color, { enum: ['red'] }),
  ],
  [
    'a shorter text',
    'body.name has a lower maxLength: 32',
    (d) => Object.assign(d.components.schemas.Request.properties.name, { maxLength: 32 }),
  ],
  ['a removed success status', 'the response 200 was removed', (d) => delete d.paths['/labels'].post.responses[200]],
  ['a removed response field', '200.id was removed', (d) => delete d.components.schemas.Label.properties.id],
  [
    'a response field that may be absent',
    '200.id is no longer always present',
    (d) => Object.assign(d.components.schemas.Label, { required: ['color'] }),
  ],
  [
    'a wider response type',
    '200.id can now have the type null',
    (d) => Object.assign(d.components.schemas.Label.properties.id, { type: ['integer', 'null'] }),
  ],
  [
    'a wider response enum',
    '200.color can now be "green"',
    (d) => d.components.schemas.Label.properties.color.enum.push('green'),
  ],
];

test.each(breaking)('finds %s: %s', (_, text, change) => {
  expect(changesAfter(change)).toContain(text);
});

test('accepts what clients do not notice', () => {
  expect(
    changesAfter((d) => {
      d.paths['/other'] = {};
      d.paths['/labels'].post.parameters.push({ name: 'cursor', in: 'query', schema: { type: 'string' } });
      d.paths['/labels'].post.responses[409] = {};
      d.components.schemas.Label.properties.size = { type: 'integer' };
      d.components.schemas.Label.properties.note.type = 'string';
      d.components.schemas.Request.properties.name.maxLength = 128;
      d.components.schemas.Request.properties.color.enum.push('green');
      delete d.paths['/labels'].post.responses[404];
    }),
  ).toEqual([]);
});

test('the document breaks nothing of itself', () => {
  const document = apiDocument as unknown as Change;
  expect(findBreakingChanges(document, document)).toEqual([]);
});
