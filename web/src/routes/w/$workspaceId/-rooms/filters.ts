/** The filters of the lists of rooms and recordings. */

/** What the person has chosen: the search, whose rooms, and days as `YYYY-MM-DD` in their time zone. */
export type Filters = { search: string; isMine: boolean; from: string; to: string; status: string };

export const noFilters: Filters = { search: '', isMine: false, from: '', to: '', status: '' };

/** Returns the input that both lists share. The day `to` is included. */
export function toInput({ search, isMine, from, to }: Filters, myId: number | undefined) {
  const [start, end] = [toSeconds(from, 0), toSeconds(to, 1)];
  return {
    ...(search !== '' && { search }),
    ...(isMine && myId !== undefined && { user_id: myId }),
    ...(start !== undefined && { from: start }),
    ...(end !== undefined && { to: end }),
  };
}

/** Returns the start of a day, `daysLater` days later, as Unix seconds. */
function toSeconds(day: string, daysLater: number): number | undefined {
  const [year, month, date] = day.split('-').map(Number);
  if (!year || !month || !date) return undefined;
  const seconds = Math.floor(new Date(year, month - 1, date + daysLater).getTime() / 1000);
  return seconds < 0 ? undefined : seconds;
}

/** Whether the last day is before the first, so that nothing can be found. */
export function isEmptyRange({ from, to }: Filters): boolean {
  return from !== '' && to !== '' && to < from;
}
