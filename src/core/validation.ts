/** The building blocks of all input schemas, and the messages for invalid input. */
import { z } from 'zod';
import { AppError, type Issue } from './errors.ts';
import { normalizeName, normalizeText } from './text.ts';

type RawIssue = z.core.$ZodRawIssue;

/** The JSON names of types that have a different name in zod. */
const typeNames: Record<string, string> = { int: 'integer', record: 'object', map: 'object', nan: 'number' };

z.config({ customError: describeIssue });

/** The default message for an issue. It names the field. A schema's own message takes precedence. */
function describeIssue(issue: RawIssue): string | undefined {
  const field = fieldOf(issue);
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.input === undefined) return `${field} is required`;
      return `${field} must be ${withArticle(typeNames[issue.expected] ?? issue.expected)}`;
    }
    case 'invalid_value': {
      if (issue.input === undefined) return `${field} is required`;
      return `${field} must be one of ${issue.values.map(String).join(', ')}`;
    }
    case 'too_big':
    case 'too_small':
      return describeRange(issue);
    default:
      return undefined;
  }
}

/** The name of an issue's field in messages: the full dotted path. */
export function fieldOf(issue: RawIssue): string {
  return (issue.path ?? []).join('.') || 'Request body';
}

function withArticle(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

function describeRange(issue: RawIssue): string | undefined {
  if (issue.code !== 'too_big' && issue.code !== 'too_small') return undefined;
  const limit = issue.code === 'too_big' ? `at most ${issue.maximum}` : `at least ${issue.minimum}`;
  if (issue.origin === 'string') return `${fieldOf(issue)} must have ${limit} characters`;
  if (issue.origin === 'array') return `${fieldOf(issue)} must have ${limit} entries`;
  return `${fieldOf(issue)} must be ${limit}`;
}

/** Converts a parse failure to a 400 that lists all issues and has the message of the first issue. */
export function toBadRequest(error: z.core.$ZodError): AppError {
  const issues: Issue[] = error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  return new AppError('BAD_REQUEST', issues[0]?.message ?? 'Bad request', { issues, cause: error });
}

/** Parses input that does not come through a procedure, such as the fields of a multipart body. Throws 400. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input);
  if (!result.success) throw toBadRequest(result.error);
  return result.data;
}

// PostgreSQL cannot store NUL, and UTF-8 cannot encode lone surrogates. Other control characters have no use in text,
// except for tabs and line breaks in multiline text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same, except tab, line feed and carriage return
const CONTROL_EXCEPT_LINE_ENDS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** A name with at most `maxLength` code points, normalized by `normalizeName`. It may be empty. */
export function singleLineText(maxLength: number) {
  return boundedText(z.string().check(z.overwrite(normalizeName)), CONTROL_CHARACTER, maxLength);
}

/** Text of one or more lines with at most `maxLength` code points, normalized by `normalizeText`. It may be empty. */
export function multilineText(maxLength: number) {
  return boundedText(z.string().check(z.overwrite(normalizeText)), CONTROL_EXCEPT_LINE_ENDS, maxLength);
}

/**
 * A name with 1 to `maxLength` code points, normalized by `normalizeName`. `message` is the error if the name is
 * missing, is null or has no visible character.
 */
export function requiredText(maxLength: number, message: string) {
  const text = presentString(message).check(z.overwrite(normalizeName)).min(1, { error: message });
  return boundedText(text, CONTROL_CHARACTER, maxLength);
}

/**
 * An ID or URL of another system: one line with at most `maxLength` code points. The value is trimmed but not
 * normalized, because other systems compare it byte by byte. It may be empty.
 */
export function exactText(maxLength: number) {
  return boundedText(z.string().trim(), CONTROL_CHARACTER, maxLength);
}

/** Like `exactText`. `message` is the error if the value is missing, null or blank. */
export function requiredExactText(maxLength: number, message: string) {
  return boundedText(presentString(message).trim().min(1, { error: message }), CONTROL_CHARACTER, maxLength);
}

/** A search term, normalized like the names that it is compared with. A blank term means no search. */
export function searchText() {
  return z
    .string()
    .max(MAX_SEARCH_LENGTH, { error: `search must have at most ${MAX_SEARCH_LENGTH} characters` })
    .check(z.overwrite(normalizeName))
    .refine((value) => value.isWellFormed() && !value.includes('\u0000'), {
      error: 'search must not contain NUL or invalid Unicode',
    });
}

function presentString(message: string) {
  return z.string({ error: (issue) => (isMissing(issue) ? message : undefined) });
}

/**
 * An optional field of a body. Null is treated as if the field was not sent. If null has its own meaning, such as
 * clearing the field, use `nullable` instead.
 */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema
    .nullable()
    .transform((value) => value ?? undefined)
    .optional();
}

/** Like `optional`, with a default. */
export function withDefault<Schema extends z.ZodType>(schema: Schema, value: NonNullable<z.output<Schema>>) {
  return schema
    .nullish()
    .transform((sent) => sent ?? value)
    .meta({ default: value });
}

function boundedText(schema: z.ZodString, forbidden: RegExp, maxLength: number) {
  return schema
    .refine((value) => value.isWellFormed() && !forbidden.test(value), {
      error: (issue) => `${fieldOf(issue)} must not contain control characters or invalid Unicode`,
    })
    .refine((value) => value.length <= maxLength || [...value].length <= maxLength, {
      error: (issue) => `${fieldOf(issue)} must have at most ${maxLength} characters`,
    })
    .meta({ maxLength });
}

function isMissing(issue: RawIssue): boolean {
  return issue.input === undefined || issue.input === null;
}

/** The maximum length of a search term, in UTF-16 code units. */
const MAX_SEARCH_LENGTH = 200;

/** The limit for the names of users, workspaces and most other resources, in code points. */
export const MAX_NAME_LENGTH = 100;

/** The limit for email addresses, in characters (RFC 5321, section 4.5.3.1.3). */
export const MAX_EMAIL_LENGTH = 254;

/**
 * An email address, converted to lower case so that its case does not matter. It is validated before the conversion,
 * because lower-casing turns some other characters into ASCII letters (such as the Kelvin sign into k). This could turn
 * one address into another.
 */
export const email = z
  .string()
  .trim()
  .max(MAX_EMAIL_LENGTH)
  .pipe(z.email({ error: (issue) => `${fieldOf(issue)} must be a valid email address` }).toLowerCase())
  .describe('Email address, case-insensitive')
  .meta({ example: 'ada@example.com' });

/** The largest 32-bit integer. */
export const MAX_INT32 = 2_147_483_647;

/** The last second of the year 9999, as a Unix timestamp. */
export const LAST_SECOND = 253_402_300_799;

/** The id of a resource, in responses and in filters of lists. Operations on a resource take a `requestedId`. */
export const id = z
  .number({
    error: (issue) => `${fieldOf(issue)} ${isMissing(issue) ? 'is required' : 'must be a positive 32-bit integer'}`,
  })
  .refine((value) => Number.isInteger(value) && value >= 1 && value <= MAX_INT32, {
    error: (issue) => `${fieldOf(issue)} must be a positive 32-bit integer`,
  })
  .meta({ type: 'integer', minimum: 1, maximum: MAX_INT32 });

/** An integer between `min` and `max`, both inclusive. The error names the range. */
export function integerBetween(min: number, max: number) {
  const error = (issue: RawIssue): string =>
    `${fieldOf(issue)} ${issue.input === undefined ? 'is required' : `must be an integer between ${min} and ${max}`}`;
  return z
    .number({ error })
    .refine((value) => Number.isInteger(value) && value >= min && value <= max, { error })
    .meta({ type: 'integer', minimum: min, maximum: max });
}

/** `#rgb` or `#rrggbb`. */
export const hexColor = z.string().regex(/^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/, {
  error: (issue) => `${fieldOf(issue)} must be a hex color such as #6366f1`,
});

/** An integer Unix timestamp in seconds, in responses. */
export const unixSeconds = integerFrom(0, LAST_SECOND).meta({
  description: 'Unix timestamp in seconds',
  example: 1767225600,
});

/** A flag in responses: 0 or 1. */
export const flag = z
  .int()
  .min(0)
  .max(1)
  .meta({ minimum: undefined, maximum: undefined, enum: [0, 1] });

/**
 * An integer in responses. The range is documented but not checked, because the column or the query guarantees it. Omit
 * `max` for a 64-bit column: JSON numbers cannot express its range.
 */
export function integerFrom(min: number, max?: number) {
  return z.int().meta({ minimum: min, maximum: max });
}

/** A count in responses that fits into 32 bits. */
export const count = integerFrom(0, MAX_INT32);
