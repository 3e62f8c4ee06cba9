/** Kinds of database errors, from Prisma or from `pg`. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Prisma } from './generated/client.ts';

const MAX_ATTEMPTS = 5;
const RETRY_BACKOFF_MS = 50;

/** Whether an error is a violation of a unique constraint. */
export function isUniqueViolation(error: unknown): boolean {
  return hasSqlState(error, '23505') || isPrismaError(error, 'P2002') || isRawError(error, /"originalCode":"23505"/);
}

/** Whether PostgreSQL rejected a statement that was sent with `pg`. */
export function isDatabaseError(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError;
}

/** Checks an error that `pg` threw. */
function hasSqlState(error: unknown, ...codes: string[]): boolean {
  return error instanceof pg.DatabaseError && error.code !== undefined && codes.includes(error.code);
}

function isPrismaError(error: unknown, code: string): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === code;
}

/** Prisma reports every error of raw SQL under one code, with PostgreSQL's own code (SQLSTATE) in its metadata. */
function isRawError(error: unknown, sqlState: RegExp): boolean {
  // isPrismaError has checked the class, which has this field.
  return isPrismaError(error, 'P2010') && sqlState.test(JSON.stringify((error as { meta?: unknown }).meta));
}

/** Whether an error of raw SQL is a violation of an exclusion constraint. */
export function isExclusionViolation(error: unknown): boolean {
  return hasSqlState(error, '23P01') || isRawError(error, /\b23P01\b/);
}

/** Whether an error is a violation of a foreign key: the referenced row does not exist. */
export function isForeignKeyViolation(error: unknown): boolean {
  return hasSqlState(error, '23503') || isPrismaError(error, 'P2003') || isRawError(error, /"originalCode":"23503"/);
}

/**
 * Runs a statement or a whole transaction, and retries it with backoff if PostgreSQL cancels it to resolve a deadlock.
 */
export async function retryDeadlocks<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isDeadlock(error) || attempt === MAX_ATTEMPTS) throw error;
      // The random delay keeps two cancelled transactions from blocking each other again.
      await sleep(Math.random() * attempt * RETRY_BACKOFF_MS);
    }
  }
}

function isDeadlock(error: unknown): boolean {
  return (
    hasSqlState(error, '40001', '40P01') || isPrismaError(error, 'P2034') || isRawError(error, /\b(?:40001|40P01)\b/)
  );
}
