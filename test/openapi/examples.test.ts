/**
 * The examples of the OpenAPI document are recorded from the running service, valid, and current. After a change of an
 * operation `npm run openapi:examples` records them again.
 */
import { writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { type ErrorCode, statusOf } from '../../src/core/errors.ts';
import { type Example, readExamples } from '../../src/openapi/examples.ts';
import { document, operations as procedures, rawOperations } from '../support/api.ts';
import { type Holder, type Json, listOperations, type OperationEntry } from './document.ts';
import { recordExamples } from './record-examples.ts';

const HOW_TO_RECORD = 'Run `npm run openapi:examples`, then `npm run openapi`';
const file = new URL('../../docs/openapi-examples.json', import.meta.url);
const names = [...procedures, ...rawOperations].map(({ name }) => name);

test('the examples are those that the running service gives', async () => {
  const recorded = await recordExamples();
  if (process.env.OPENAPI_EXAMPLES === 'record')
    writeFileSync(file, `${JSON.stringify(keepCurrent(recorded), null, 2)}\n`);
  const examples = readExamples();
  expect(Object.keys(examples).sort(), HOW_TO_RECORD).toEqual(names.sort());
  for (const [name, example] of Object.entries(examples))
    expect({ name, ...shapeOf(example) }, HOW_TO_RECORD).toEqual({ name, ...shapeOf(recorded[name] as Example) });
});

/** Keeps the stored examples that are still current, because random values differ in each recording. */
function keepCurrent(recorded: Record<string, Example>): Record<string, Example> {
  const stored: Partial<Record<string, Example>> = readExamples();
  return Object.fromEntries(
    Object.entries(recorded).map(([name, example]) => {
      const earlier = stored[name];
      return [name, earlier && isDeepStrictEqual(shapeOf(earlier), shapeOf(example)) ? earlier : example];
    }),
  );
}

/** The fields of a recorded call, with their words and the types of their other values, and its errors. */
function shapeOf({ input, response, errors }: Example): Record<string, unknown> {
  return { input: typesOf(input), response: typesOf(response), errors };
}

/** A word such as `joined` or `owner`, which is the same in every recording. */
const WORD = /^[a-z]+(?:_[a-z]+)*$/;

function typesOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(typesOf);
  if (typeof value === 'string' && WORD.test(value)) return value;
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, typesOf(field)]));
}

test('the examples hold no secret of a real call', () => {
  const text = JSON.stringify(readExamples());
  expect(text).not.toMatch(/\bln[a-z]_(?!EXAM)|\bwhsec_(?!EXAMPLE)|127\.0\.0\.1|localhost/);
});

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addFormat('int64', true);
ajv.addFormat('binary', true);
ajv.addSchema({ ...document, $id: 'document' });

function validatorOf(schema: Json): ValidateFunction {
  return ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components')));
}

const { components } = document as unknown as { components: { responses: Record<string, Holder> } };

function resolve(holder: Holder): Holder {
  return (holder.$ref === undefined ? holder : components.responses[holder.$ref.split('/').at(-1) ?? '']) as Holder;
}

/** Every example of a body or response, with its schema. */
function examplesOf({ requestBody, responses }: OperationEntry) {
  const holders = [['request', requestBody] as const, ...Object.entries(responses)];
  return holders.flatMap(([status, holder]) =>
    Object.values(resolve(holder ?? {}).content ?? {}).flatMap(({ schema, example, examples }) =>
      examples
        ? Object.values(examples).map(({ value }) => ({ status, schema, example: value }))
        : [{ status, schema, example }],
    ),
  );
}

describe.each(listOperations(document).map((operation) => [operation.name, operation] as const))(
  '%s',
  (_, operation) => {
    test('has an example of its body and of every response, which match their schemas', () => {
      for (const { status, schema, example } of examplesOf(operation)) {
        const validate = validatorOf(schema);
        expect([status, validate(example), ajv.errorsText(validate.errors)]).toEqual([status, true, 'No errors']);
      }
    });

    test('has valid examples of its path parameters', () => {
      const parameters = (operation.parameters ?? []) as { name: string; in: string; schema: Json; example: unknown }[];
      for (const { name, in: place, schema, example } of parameters) {
        if (place !== 'path' && example === undefined) continue;
        const validate = validatorOf(schema);
        expect([name, example, validate(example)]).toEqual([name, example, true]);
      }
    });

    test('has errors whose examples fit their status', () => {
      for (const { status, example } of examplesOf(operation).filter((one) => Number(one.status) >= 400)) {
        const { code, message, error, issues = [] } = example as Record<string, unknown> & { code: ErrorCode };
        expect([statusOf[code], error]).toEqual([Number(status), message]);
        if (status === '404') expect(message).toMatch(/^[A-Z][\w ]+ not found$/);
        if (status !== '400') expect(issues).toEqual([]);
      }
    });
  },
);

test('every operation describes its success', () => {
  const successes = listOperations({ paths: document.paths }).flatMap(({ name, responses }) =>
    Object.entries(responses)
      .filter(([status]) => Number(status) < 300)
      .map(([, { description }]) => ({ name, description })),
  );
  expect(successes).toHaveLength(names.length);
  expect(successes.filter(({ description }) => !/^[A-Z].{5,}[^.]$/.test(description ?? ''))).toEqual([]);
  expect(JSON.stringify(document).includes('Successful response')).toBe(false);
});
