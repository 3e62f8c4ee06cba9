const UNITS = [
  ['GB', 2 ** 30],
  ['MB', 2 ** 20],
  ['kB', 2 ** 10],
] as const;

/** A number of bytes as people say it: 104,857,600 is "100 MB", as in the contract; what is not even stays in bytes. */
export function formatBytes(bytes: number): string {
  for (const [unit, size] of UNITS) if (bytes >= size && bytes % size === 0) return `${bytes / size} ${unit}`;
  return `${bytes} bytes`;
}
