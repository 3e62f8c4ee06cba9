/** Many calls at once, for what must hold whichever comes first. */

/** Calls `work` `times` times without waiting in between; resolves with all results, in the order of the calls. */
export const concurrently = <Result>(times: number, work: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: times }, (_, index) => work(index)));

/** How often each status came. */
export const countStatuses = (answers: readonly { status: number }[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};
