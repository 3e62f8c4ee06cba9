import { type ListPageInput, MAX_LISTED } from '../core/list-page.ts';
import { Prisma } from './client.ts';

/** The `limit` and `offset` clauses that select a page. */
export function limitOffset({ limit = MAX_LISTED, offset = 0 }: ListPageInput): Prisma.Sql {
  return Prisma.sql`limit ${limit} offset ${offset}`;
}

/** The parameters of a statement that select a page. */
export function toLimitOffset({ limit = MAX_LISTED, offset = 0 }: ListPageInput): { limit: number; offset: number } {
  return { limit, offset };
}
