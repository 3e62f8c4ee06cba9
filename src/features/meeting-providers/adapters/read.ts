/**
 * Reads the parts of a callback: headers, JSON, objects and single values. Ids must match exactly, so an invalid id is
 * rejected. Text written by people is cleaned instead: the provider cannot correct it, and an unusual name must not
 * make the service miss a join.
 */
import { z } from 'zod';
import { findUnboundedJson } from '../../../core/json-bounds.ts';
import { normalizeName } from '../../../core/text.ts';
import { email, MAX_NAME_LENGTH, requiredExactText, toBadRequest } from '../../../core/validation.ts';
import { MAX_TITLE_LENGTH } from '../../recordings/schemas.ts';
import { type Callback, MalformedCallback, type ProviderCredentials } from './provider-adapter.ts';
import type { RecordingFile } from './provider-event.ts';

const MAX_ID_LENGTH = 200;
/** The maximum size of a callback. */
export const MAX_CALLBACK_BYTES = 64 * 1024;
const MAX_REASON_LENGTH = 500;
const MAX_TOKEN_LENGTH = 200;
export const MAX_URL_LENGTH = 2048;

/** One year. No recording is longer. */
export const MAX_SECONDS = 366 * 24 * 60 * 60;
/** One pebibyte. */
export const MAX_FILE_BYTES = 2 ** 50;
/** Earlier times in a callback are treated as missing. */
export const EARLIEST_MS = Date.UTC(2010, 0, 1);

const CustomData = z.object({
  participant_reference: z.string().nullable().catch(null),
  participant_token: z.string().nullable().catch(null),
  name: z.string().nullable().catch(null),
  email: z.string().nullable().catch(null),
});
type CustomData = z.output<typeof CustomData>;

/** Returns a header by its lower-case name; undefined if it is missing or empty. */
export function readHeader({ headers }: Callback, name: Lowercase<string>): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Parses the body. Throws MalformedCallback if it is not UTF-8 or not JSON, or has too many values. */
export function readJson(body: Buffer): unknown {
  const refusal = findUnboundedJson(body, MAX_CALLBACK_BYTES);
  if (refusal !== null) throw new MalformedCallback(refusal.message, refusal.issues);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new MalformedCallback('Request body must be JSON in UTF-8');
  }
}

/** Parses a value with a schema. Throws MalformedCallback, whose message names each invalid field. */
export function readShape<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { message, issues } = toBadRequest(result.error);
  throw new MalformedCallback(message, issues);
}

/** Parses stored credentials. A failure is a bug in this service. The error contains no part of the credentials. */
export function readCredentials<Schema extends z.ZodType>(
  schema: Schema,
  credentials: ProviderCredentials,
): z.output<Schema> {
  const result = schema.safeParse(credentials);
  if (!result.success) throw new Error("The stored credentials do not match the provider's schema");
  return result.data;
}

/**
 * Parses the JSON that a provider sends as a participant's metadata: `{participant_reference?, participant_token?,
 * name?, email?}`. A field with the wrong type becomes null. Returns null if the text is not a JSON object.
 */
export function readCustomData(text: string): CustomData | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return CustomData.safeParse(value).data ?? null;
}

/**
 * The schema of an id from a provider. An invalid id is rejected, because cleaning or truncating could make two
 * different ids equal.
 */
export function providerId(field: string) {
  return requiredExactText(MAX_ID_LENGTH, `${field} is required`);
}

export function cleanName(value: unknown): string | null {
  return cleanLine(value, MAX_NAME_LENGTH);
}

/**
 * Removes control characters and invalid Unicode, and truncates to `max` code points. Returns null if nothing remains.
 */
function cleanLine(value: unknown, max: number): string | null {
  if (typeof value !== 'string') return null;
  const line = normalizeName(value.toWellFormed().replace(/[\p{Cc}\s]+/gu, ' '));
  // A code point has at most two code units, so the rest of a long text is not needed.
  const truncated = [...line.slice(0, 2 * max)].slice(0, max).join('');
  // The truncated text may end with a space or be invisible.
  return normalizeName(truncated) || null;
}

export function cleanTitle(value: unknown): string | null {
  return cleanLine(value, MAX_TITLE_LENGTH);
}

export function cleanReason(value: unknown): string | null {
  return cleanLine(value, MAX_REASON_LENGTH);
}

/** Returns an email address in lower case, or null for any other value. */
export function cleanEmail(value: unknown): string | null {
  return email.safeParse(value).data ?? null;
}

/**
 * Returns 1 to 200 visible ASCII characters unchanged, or null for any other value. Removing characters would turn the
 * token into a different one.
 */
export function cleanToken(value: unknown): string | null {
  return typeof value === 'string' && value.length <= MAX_TOKEN_LENGTH && /^[\x21-\x7e]+$/.test(value) ? value : null;
}

/**
 * Returns the reference of a participant, without what may follow it after a dot to tell the connections of the
 * participant apart. Returns null for any other value.
 */
export function cleanReference(value: unknown): string | null {
  return /^(ref_[\w-]+)(?:\.|$)/.exec(cleanToken(value) ?? '')?.[1] ?? null;
}

/**
 * Returns whole seconds from a number, bigint or decimal string. 0 becomes null: providers send it for an unknown
 * duration.
 */
export function cleanSeconds(value: unknown): number | null {
  return toPositiveInteger(value, MAX_SECONDS);
}

function toPositiveInteger(value: unknown, max: number): number | null {
  const isNumeric = typeof value === 'number' || typeof value === 'bigint';
  const isDecimal = typeof value === 'string' && /^\d{1,20}(?:\.\d{1,20})?$/.test(value);
  const rounded = isNumeric || isDecimal ? Math.round(Number(value)) : Number.NaN;
  return rounded > 0 && rounded <= max ? rounded : null;
}

/** Returns bytes from a number, bigint or decimal string. 0 becomes null, as in `cleanSeconds`. */
export function cleanBytes(value: unknown): number | null {
  return toPositiveInteger(value, MAX_FILE_BYTES);
}

/** Reads a time in milliseconds since 1970. Returns `fallback` if the time is missing, before 2010 or after `now`. */
export function readTime(value: unknown, now: Date, fallback = now): Date {
  const milliseconds = toPositiveInteger(value, now.getTime());
  return milliseconds === null || milliseconds < EARLIEST_MS ? fallback : new Date(milliseconds);
}

/** Returns the file at an http(s) URL. Returns null for any other value, and for a URL with a user name or password. */
export function readFileUrl(value: unknown): RecordingFile | null {
  if (typeof value !== 'string' || value.length > MAX_URL_LENGTH) return null;
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null;
  return url.href.length > MAX_URL_LENGTH ? null : { url: url.href };
}
