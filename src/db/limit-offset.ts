import { type ListPageInput, MAX_LISTED } from '../core/list-page.ts';
import { Prisma } from './client.ts';

/** The `limit` and `offset` clauses that select a page. */
export function limitOffset({ limit = MAX_LISTED, offset = 0 }: ListPageInput): Prisma.Sql {
  return Prisma.sql`limit ${limit} offset ${offset}`;
}
