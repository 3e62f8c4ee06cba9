/** What a program stores with a person for itself, and gets back in answers and events. */
import { z } from 'zod';

const MAX_BYTES = 2048;

// PostgreSQL stores neither in JSON. A backslash before the escape makes it plain text.
const NUL_OR_LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

const fields = z.record(z.string(), z.unknown());

export const Metadata = fields.describe('What the program that made the pass stored');
export type Metadata = z.infer<typeof Metadata>;

export const metadata = Metadata.nullable().describe(
  'What was stored when the pass of the person was made; null if nothing was, or if they have no pass',
);

export const newMetadata = fields
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= MAX_BYTES, {
    error: `metadata must have at most ${MAX_BYTES} bytes of JSON`,
  })
  .refine((value) => !NUL_OR_LONE_SURROGATE.test(JSON.stringify(value)), {
    error: 'metadata must not contain NUL or invalid Unicode',
  })
  .describe(`A JSON object of at most ${MAX_BYTES} bytes, which answers and events repeat`)
  .meta({ example: { plan: 'pro' } });

export const externalId = z
  .string()
  .nullable()
  .describe('The id of the person in the product that made their pass; null if it has none, or if they have no pass');
