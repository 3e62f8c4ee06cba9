/**
 * Cursors: where a page of a list ended. A cursor has the sort key and the id of its last entry, so the next page
 * begins after it, whatever was added or deleted meanwhile. It grants no access: the statement of the list checks that.
 */
import { crc32 } from 'node:zlib';
import { z } from 'zod';

const VERSION = 1;
/** The longest sort key is a name of 255 code points. */
const MAX_CURSOR_LENGTH = 4_000;
/** The last millisecond of the year 9999. */
const MAX_TIME_MS = 253_402_300_799_999;
const MAX_ID = 2_147_483_647;

const CursorTuple = z.tuple([
  z.literal(VERSION),
  z.int(),
  z.union([z.number(), z.string().max(MAX_CURSOR_LENGTH)]),
  z.union([z.number(), z.string().max(MAX_CURSOR_LENGTH)]),
]);

/** The position after an entry of a list. Its values have not been checked against the list yet. */
export type Cursor = {
  /** A checksum of the list and its filters (`checksumOf`). The cursor is valid only for them. */
  list: number;
  key: string | number;
  id: string | number;
};

/** Checks a value of a cursor. It was sent by a caller, so any value is possible. */
export const cursorValues = {
  time: (value: unknown): value is number => isIntegerUpTo(value, MAX_TIME_MS),
  number: (value: unknown): value is number => isIntegerUpTo(value, Number.MAX_SAFE_INTEGER),
  id: (value: unknown): value is number => isIntegerUpTo(value, MAX_ID),
  text: (value: unknown): value is string =>
    typeof value === 'string' && value.isWellFormed() && !value.includes('\u0000'),
};
export type CursorValue = keyof typeof cursorValues;

function isIntegerUpTo(value: unknown, max: number): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= max;
}

export function encodeCursor({ list, key, id }: Cursor): string {
  return Buffer.from(JSON.stringify([VERSION, list, key, id])).toString('base64url');
}

/** Returns null for a string that is not a cursor. */
export function decodeCursor(text: string): Cursor | null {
  if (!/^[\w-]+$/.test(text) || text.length > MAX_CURSOR_LENGTH) return null;
  const parsed = CursorTuple.safeParse(parseJson(Buffer.from(text, 'base64url').toString()));
  if (!parsed.success) return null;
  const [, list, key, id] = parsed.data;
  return { list, key, id };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The checksum of a list, whose name includes its order, and of its filters. It prevents mistakes, not forgery. */
export function checksumOf(name: string, filters: readonly unknown[]): number {
  return crc32(`${name} ${JSON.stringify(filters)}`);
}
