/** The ids of the resources that requests are about. */
import { z } from 'zod';
import { fieldOf, MAX_INT32 } from './validation.ts';

/** An id that no resource has. */
const NO_ID = 0;

/** The digits of an integer, as in JSON. */
export const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/**
 * The id of the resource that a request is about. An integer that cannot be an id, such as 0 or one with more than 32
 * bits, becomes `NO_ID`, so that the response is the same 404 as for an unknown id.
 */
export const requestedId = requestedIdUpTo(MAX_INT32, 'must be a positive 32-bit integer');

/** Like `requestedId`, for ids up to `max`. `form` completes the message for a value that is no integer. */
export function requestedIdUpTo(max: number, form: string) {
  const error = (issue: z.core.$ZodRawIssue): string =>
    `${fieldOf(issue)} ${issue.input === undefined || issue.input === null ? 'is required' : form}`;
  return z
    .number({ error })
    .refine(Number.isInteger, { error })
    .check(z.overwrite((value) => (value >= 1 && value <= max ? value : NO_ID)))
    .meta({ type: 'integer', minimum: 1, maximum: max });
}

/** Parses an id from a path or query, like `requestedId`. Returns null if the string is not an integer. */
export function idFromText(text: string | undefined): number | null {
  return text !== undefined && INTEGER.test(text) ? (requestedId.safeParse(Number(text)).data ?? null) : null;
}
