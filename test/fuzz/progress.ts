/** Counts the answers by operation and status, and prints them. */

export type Progress = {
  count(title: string, status: number): void;
  /** The operations and transports that were called, such as `labels.create over tRPC`. */
  titles(): string[];
  /** Prints one line with the answers by status. */
  report(): void;
};

export function createProgress(requests: number): Progress {
  const titles = new Map<string, number>();
  const statuses = new Map<number, number>();
  const startedAt = performance.now();
  return {
    count(title, status) {
      titles.set(title, (titles.get(title) ?? 0) + 1);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    },
    titles: () => [...titles.keys()],
    report() {
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
      const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
      process.stdout.write(`${requests} random requests in ${seconds} s, answers by status: ${counts.join(', ')}\n`);
    },
  };
}
