/** The building blocks of every input shape, and how a refused input is put into words. */
import { z } from 'zod';
import { AppError, type Issue } from './errors.ts';

type RawIssue = z.core.$ZodRawIssue;

function article(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

const nouns: Record<string, string> = { int: 'integer', record: 'object', map: 'object', nan: 'number' };

/** What a sentence about an issue calls its field: the whole path, dotted. */
export function fieldOf(issue: RawIssue): string {
  return (issue.path ?? []).join('.') || 'Request body';
}

function rangeText(issue: RawIssue): string | undefined {
  if (issue.code !== 'too_big' && issue.code !== 'too_small') return undefined;
  const isMost = issue.code === 'too_big';
  const limit = String(isMost ? issue.maximum : issue.minimum);
  const bound = isMost ? 'at most' : 'at least';
  if (issue.origin === 'string') return `${fieldOf(issue)} must have ${bound} ${limit} characters`;
  if (issue.origin === 'array') return `${fieldOf(issue)} must have ${bound} ${limit} entries`;
  return `${fieldOf(issue)} must be ${bound} ${limit}`;
}

/** Every sentence names its field. A shape that gives its own message (the contract's texts) wins over these. */
function describeIssue(issue: RawIssue): string | undefined {
  const field = fieldOf(issue);
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.input === undefined) return `${field} is required`;
      return `${field} must be ${article(nouns[issue.expected] ?? issue.expected)}`;
    }
    case 'invalid_value': {
      if (issue.input === undefined) return `${field} is required`;
      return `${field} must be one of ${issue.values.map(String).join(', ')}`;
    }
    case 'too_big':
    case 'too_small':
      return rangeText(issue);
    default:
      return undefined;
  }
}

z.config({ customError: describeIssue });

/** Any parse failure as the 400 that names each field; the message is the first field's sentence. */
export function toBadRequest(error: z.core.$ZodError): AppError {
  const issues: Issue[] = error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  return new AppError('BAD_REQUEST', issues[0]?.message ?? 'Bad request', { issues, cause: error });
}

/** Parses input that does not come through a procedure, such as the fields of a multipart body. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input);
  if (!result.success) throw toBadRequest(result.error);
  return result.data;
}

function missing(issue: RawIssue): boolean {
  return issue.input === undefined || issue.input === null;
}

// PostgreSQL stores no NUL, and UTF-8 has no lone surrogates; other control characters have no place in a text, but
// for tabs and line ends where it may have several lines.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same, without tab, line feed and carriage return
const CONTROL_BUT_LINES = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

function isAtMost(max: number) {
  return (value: string) => value.length <= max || [...value].length <= max;
}

function clean(schema: z.ZodString, forbidden: RegExp, max: number) {
  return schema
    .refine((value) => value.isWellFormed() && !forbidden.test(value), {
      error: (issue) => `${fieldOf(issue)} must not contain control characters or invalid Unicode`,
    })
    .refine(isAtMost(max), { error: (issue) => `${fieldOf(issue)} must have at most ${max} characters` });
}

/** One line of text that may be empty, trimmed, of at most `most` code points. */
export function lineOfText(max: number) {
  return clean(z.string().trim(), CONTROL, max).meta({ maxLength: max });
}

/** Text of several lines, kept as it is, of at most `most` code points. */
export function textOf(max: number) {
  return clean(z.string(), CONTROL_BUT_LINES, max).meta({ maxLength: max });
}

/** A trimmed line that is there: missing, null and blank are refused with `otherwise`. */
export function requiredLine(max: number, message: string) {
  return clean(
    z
      .string({ error: (issue) => (missing(issue) ? message : undefined) })
      .trim()
      .min(1, { error: message }),
    CONTROL,
    max,
  ).meta({ maxLength: max });
}

/** The longest name of a person, a workspace and most other things, in code points. */
export const MAX_NAME_LENGTH = 100;

/** The longest email address (RFC 5321 with its errata 1690). */
export const MAX_EMAIL_LENGTH = 254;

/**
 * An email address, lower-cased, so that one person is one account and one contact however it is typed. Checked before
 * that: lower-casing turns some characters into ASCII letters (the Kelvin sign into k), and so one address into another.
 */
export const email = z
  .string()
  .trim()
  .max(MAX_EMAIL_LENGTH)
  .pipe(z.email({ error: (issue) => `${fieldOf(issue)} must be a valid email address` }).toLowerCase())
  .describe('Email address; upper and lower case are the same')
  .meta({ example: 'ada@example.com' });

/** The largest id: ids are 32-bit. */
const MAX_ID = 2_147_483_647;

/** The id of a stored thing. */
export const id = z
  .number({
    error: (issue) => `${fieldOf(issue)} ${missing(issue) ? 'is required' : 'must be a positive 32-bit integer'}`,
  })
  .refine((value) => Number.isInteger(value) && value >= 1 && value <= MAX_ID, {
    error: (issue) => `${fieldOf(issue)} must be a positive 32-bit integer`,
  })
  .meta({ type: 'integer', minimum: 1, maximum: MAX_ID });

/** An integer in a range, refused with a sentence that names the range where it is there at all. */
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

/** An integer Unix timestamp in seconds, as it leaves. */
export const unixSeconds = z.int().meta({ description: 'Unix timestamp in seconds', example: 1767225600 });
