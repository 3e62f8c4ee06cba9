import { type ListPageInput, MAX_LISTED } from '../core/list-page.ts';

/** The parameters of a statement that select a page. */
export function toLimitOffset({ limit = MAX_LISTED, offset = 0 }: ListPageInput): { limit: number; offset: number } {
  return { limit, offset };
}
