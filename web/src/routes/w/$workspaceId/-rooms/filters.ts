/** The filters of the lists of rooms and recordings. */
import { toStartOfDay } from '../../../../lib/day.ts';

/** What the person has chosen: the search, whose rooms, and days as `YYYY-MM-DD` in their time zone. */
export type Filters = { search: string; isMine: boolean; from: string; to: string; status: string };

export const noFilters: Filters = { search: '', isMine: false, from: '', to: '', status: '' };

/** Returns the input that both lists share. The day `to` is included. */
export function toInput({ search, isMine, from, to }: Filters, myId: number | undefined) {
  const [start, end] = [toStartOfDay(from, 0), toStartOfDay(to, 1)];
  return {
    ...(search !== '' && { search }),
    ...(isMine && myId !== undefined && { user_id: myId }),
    ...(start !== undefined && { from: start }),
    ...(end !== undefined && { to: end }),
  };
}

/** Whether the last day is before the first, so that nothing can be found. */
export function isEmptyRange({ from, to }: Filters): boolean {
  return from !== '' && to !== '' && to < from;
}
