/** When a recording reaches its largest size. Pure. */

export const NOTICE_SECONDS = 300;
/** The rate of the first seconds says little. */
const MIN_MEASURED_SECONDS = 10;

/** Returns how many seconds are left until `maxBytes`; null if that is not known yet. */
export function estimateSecondsLeft(
  { bytes, seconds }: { bytes: number; seconds: number },
  maxBytes: number,
): number | null {
  if (seconds < MIN_MEASURED_SECONDS || bytes === 0) return null;
  return Math.max(0, (maxBytes - bytes) / (bytes / seconds));
}
