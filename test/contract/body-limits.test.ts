/** Every operation accepts the largest input that its schema allows. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { appRouter } from '../../src/routers/index.ts';
import { bodyLimitsOf } from '../../src/trpc/body-limits.ts';
import { inputsOf, proceduresOf } from '../../src/trpc/call-procedure.ts';

type Schema = z.core.JSONSchema.JSONSchema;

/** `bytes` of JSON, in which every character may be escaped, and `values` as the service counts them. */
type Size = { bytes: number; values: number };

/** The length of names that only patterns limit, such as those of time zones and rooms. */
const SHORT = 100;
/** What clients may send: a control character and a letter as `\uXXXX`, a quote as `\"`, or the character itself. */
const characters = { '\u0001': 6, é: 6, '"': 2, a: 1 };
const NUMBER: Size = { bytes: 24, values: 0 };

function sizeOf(schema: Schema | boolean | undefined, defs: Record<string, Schema>): Size {
  if (typeof schema !== 'object') throw new Error('A field without a type has no maximum');
  if (schema.$ref) return sizeOf(defs[schema.$ref.replace('#/$defs/', '')], defs);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return largest(choices.map((choice) => sizeOf(choice, defs)));
  if (schema.enum) return largest(schema.enum.map((value) => ({ bytes: JSON.stringify(value).length, values: 0 })));
  switch (schema.type) {
    case 'string':
      return { bytes: 2 + (schema.maxLength ?? SHORT) * bytesPerCharacter(schema), values: 0 };
    case 'array': {
      const count = schema.maxItems ?? Number.NaN;
      const { bytes, values } = sizeOf(schema.items as Schema, defs);
      return { bytes: 2 + count * (bytes + 1), values: 1 + count * (values + 1) };
    }
    case 'object': {
      const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => {
        const { bytes, values } = sizeOf(field, defs);
        return { bytes: bytes + name.length + 4, values: values + 1 };
      });
      return sum([{ bytes: 2, values: 1 }, ...fields]);
    }
    default:
      return NUMBER;
  }
}

function bytesPerCharacter({ pattern }: Schema): number {
  const matches = (character: string): boolean =>
    pattern === undefined || ['', '/'].some((start) => new RegExp(pattern, 'u').test(start + character));
  return Math.max(...Object.entries(characters).map(([character, bytes]) => (matches(character) ? bytes : 1)));
}

function largest(sizes: readonly Size[]): Size {
  return {
    bytes: Math.max(...sizes.map(({ bytes }) => bytes)),
    values: Math.max(...sizes.map(({ values }) => values)),
  };
}

function sum(sizes: readonly Size[]): Size {
  return sizes.reduce((total, { bytes, values }) => ({
    bytes: total.bytes + bytes,
    values: total.values + values,
  }));
}

const writes = proceduresOf(appRouter).filter(([, { _def }]) => _def.type === 'mutation');

test.each(writes)('the largest input of %s is not refused', (_, procedure) => {
  const sizes = inputsOf(procedure).map((input) => {
    const { $defs = {}, ...schema } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
    return sizeOf(schema as Schema, $defs as Record<string, Schema>);
  });
  const { bytes, values } = sum([{ bytes: 0, values: 0 }, ...sizes]);
  // `as`: tRPC does not preserve the type of the metadata.
  const { maxBytes } = bodyLimitsOf((procedure.meta ?? {}) as Parameters<typeof bodyLimitsOf>[0]);
  expect(bytes).toBeLessThanOrEqual(maxBytes);
  expect(values).toBeLessThanOrEqual(maxBytes / 32);
});
