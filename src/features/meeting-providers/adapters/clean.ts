/**
 * Values of a provider made fit to keep. What people wrote is cleaned rather than refused: the provider cannot mend it,
 * and a join must not be lost over a name.
 */
import { email, MAX_NAME_LENGTH } from '../../../core/validation.ts';
import { MAX_TITLE_LENGTH } from '../../recordings/schemas.ts';
import type { RecordingFile } from './facts.ts';

const MAX_REASON = 500;
const MAX_TOKEN = 200;
const MAX_URL = 2048;

/** A year: no recording is longer. */
export const MAX_SECONDS = 366 * 24 * 60 * 60;
/** A pebibyte. */
export const MAX_FILE_BYTES = 2 ** 50;
/** Older than any provider's callback. */
export const EARLIEST_MS = Date.UTC(2010, 0, 1);

export function cleanName(value: unknown): string | null {
  return cleanLine(value, MAX_NAME_LENGTH);
}

/** One line of at most `most` code points, without control characters and invalid Unicode; null: nothing is left. */
function cleanLine(value: unknown, max: number): string | null {
  if (typeof value !== 'string') return null;
  const line = value
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  // No code point has more than two units: what is beyond them would be cut anyway, and need not be taken apart.
  const cut = [...line.slice(0, 2 * max)].slice(0, max).join('').trimEnd();
  return cut || null;
}

export function cleanTitle(value: unknown): string | null {
  return cleanLine(value, MAX_TITLE_LENGTH);
}

export function cleanReason(value: unknown): string | null {
  return cleanLine(value, MAX_REASON);
}

/** An email address in lower case; null for any other value. */
export function cleanEmail(value: unknown): string | null {
  return email.safeParse(value).data ?? null;
}

/** A token as it was given out: visible ASCII. A text that had to be changed for that would be another token. */
export function cleanToken(value: unknown): string | null {
  return typeof value === 'string' && value.length <= MAX_TOKEN && /^[\x21-\x7e]+$/.test(value) ? value : null;
}

/** Whole seconds from a number, bigint or decimal text. 0 is null: providers write it for what they do not know yet. */
export function cleanSeconds(value: unknown): number | null {
  return positiveUpTo(value, MAX_SECONDS);
}

function positiveUpTo(value: unknown, max: number): number | null {
  const isNumeric = typeof value === 'number' || typeof value === 'bigint';
  const isDecimal = typeof value === 'string' && /^\d{1,20}(?:\.\d{1,20})?$/.test(value);
  const rounded = isNumeric || isDecimal ? Math.round(Number(value)) : Number.NaN;
  return rounded > 0 && rounded <= max ? rounded : null;
}

/** Bytes from a number, bigint or decimal text; 0 is null, as with seconds. */
export function cleanBytes(value: unknown): number | null {
  return positiveUpTo(value, MAX_FILE_BYTES);
}

/** The time in milliseconds since 1970; `otherwise` where it is missing, absurd or after `now`. */
export function momentOr(fallback: Date, value: unknown, now: Date): Date {
  const milliseconds = positiveUpTo(value, now.getTime());
  return milliseconds === null || milliseconds < EARLIEST_MS ? fallback : new Date(milliseconds);
}

export function momentOrNow(value: unknown, now: Date): Date {
  return momentOr(now, value, now);
}

/** The file at an http(s) URL; null for any other value, also for a URL that carries a password. */
export function fileAt(value: unknown): RecordingFile | null {
  if (typeof value !== 'string' || value.length > MAX_URL) return null;
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null;
  return url.href.length > MAX_URL ? null : { url: url.href };
}
