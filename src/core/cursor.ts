/**
 * Cursors: where a page of a list ended. A cursor contains the sort key and the id of the page's last entry. The next
 * page begins after that entry, even if entries were added or deleted in between. A cursor grants no access: the list
 * query checks access itself.
 */

import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { parseJson } from './parse-json.ts';

const VERSION = 1;
/** The longest sort key is a name of 255 code points. */
const MAX_CURSOR_LENGTH = 4_000;
/** The last millisecond of the year 9999 (UTC). */
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
  /**
   * A checksum of the list and its filters (`checksumOf`). The cursor is valid only for this list with these filters.
   */
  list: number;
  key: string | number;
  id: string | number;
};

/** Checks a value from a cursor. The caller may have sent anything. */
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

/** Returns null if the string is not a cursor. */
export function decodeCursor(text: string): Cursor | null {
  if (!/^[\w-]+$/.test(text) || text.length > MAX_CURSOR_LENGTH) return null;
  const parsed = CursorTuple.safeParse(parseJson(Buffer.from(text, 'base64url').toString()));
  if (!parsed.success) return null;
  const [, list, key, id] = parsed.data;
  return { list, key, id };
}

/**
 * Returns the checksum of a list and its filters. `name` must include the order of the list. The checksum detects
 * mistakes, not forgery.
 */
export function checksumOf(name: string, filters: readonly unknown[]): number {
  return crc32(`${name} ${JSON.stringify(filters)}`);
}
