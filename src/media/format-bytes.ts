const UNITS = [
  ['GB', 2 ** 30],
  ['MB', 2 ** 20],
  ['kB', 2 ** 10],
] as const;

/**
 * Formats a number of bytes. The units are named kB, MB and GB, but are powers of 1,024: 104,857,600 is "100 MB". A
 * number that is not a multiple of any unit is given in bytes.
 */
export function formatBytes(bytes: number): string {
  for (const [unit, size] of UNITS) if (bytes >= size && bytes % size === 0) return `${bytes / size} ${unit}`;
  return `${bytes} bytes`;
}
