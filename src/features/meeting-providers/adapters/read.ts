/** How every adapter reads what arrived: headers, JSON, shapes. */
import { z } from 'zod';
import { requiredText, toBadRequest } from '../../../core/validation.ts';
import { MalformedCallback } from './errors.ts';
import type { Callback, ProviderCredentials } from './facts.ts';

const MAX_ID = 200;

const Carried = z.object({
  participant_token: z.string().nullable().catch(null),
  name: z.string().nullable().catch(null),
  email: z.string().nullable().catch(null),
});
type Carried = z.output<typeof Carried>;

/** An id of the provider. It is refused rather than cleaned: cut or mended, two ids could become one. */
export function providerId(field: string) {
  return requiredText(MAX_ID, `${field} is required`);
}

/** A header by its name in lower case; undefined where it is missing, empty or sent more than once. */
export function headerOf({ headers }: Callback, name: Lowercase<string>): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The body's JSON value. Throws MalformedCallback for bytes that are not UTF-8 and for text that is not JSON. */
export function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new MalformedCallback('Request body must be JSON in UTF-8');
  }
}

/** A value of the given shape. Throws a MalformedCallback that names each wrong field. */
export function readShape<Shape extends z.ZodType>(shape: Shape, value: unknown): z.output<Shape> {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  const { message, issues } = toBadRequest(result.error);
  throw new MalformedCallback(message, issues);
}

/** Credentials of the given shape; what does not fit has been stored by mistake, and the error holds none of it. */
export function readCredentials<Shape extends z.ZodType>(
  shape: Shape,
  credentials: ProviderCredentials,
): z.output<Shape> {
  const result = shape.safeParse(credentials);
  if (!result.success) throw new Error("The credentials are not of the provider's shape");
  return result.data;
}

/**
 * What our own join operation lets a provider carry for us, as JSON: `{participant_token?, name?, email?}`. A field of
 * another type counts as missing; null: the text is no such object.
 */
export function readCarried(text: string): Carried | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return Carried.safeParse(value).data ?? null;
}
