/** Replaces line breaks and other control characters, which could make text look as if it came from the service. */
export function toLine(value: string): string {
  return value.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}
