import { type ListPageInput, MAX_LISTED } from '../core/list-page.ts';

/** The arguments of `findMany` that select a page. */
export function takeSkip({ limit = MAX_LISTED, offset = 0 }: ListPageInput): { take: number; skip: number } {
  return { take: limit, skip: offset };
}
