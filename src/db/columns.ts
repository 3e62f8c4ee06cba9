/**
 * Expressions for the columns of statements, so that a row has the types of the response and needs no conversion.
 * `column` must never contain input.
 */
import { DELETED_USER } from '../core/people.ts';

/**
 * A time as Unix seconds, rounded as by `toUnixSeconds`. Declare the column as `float`: a 32-bit integer overflows in
 * 2038.
 */
export function secondsOf(column: string): string {
  return `floor(date_part('epoch', ${column}))`;
}

/** The name of an author, or `DELETED_USER` if `column` is null because the account was deleted. */
export function creatorNameOf(column: string): string {
  return `coalesce(${column}, '${DELETED_USER}')`;
}

/** A boolean as 1 or 0. */
export function flagOf(column: string): string {
  return `${column}::int`;
}
