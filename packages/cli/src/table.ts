/** Formats text in aligned columns. */

const GAP = '  ';

/** Pads the cells of each column to the same width. Rows may have fewer cells than others. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, cell.length);
    });
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

/** A table with a heading, or `empty` if it has no rows. */
export function toTable(heading: readonly string[], rows: readonly (readonly string[])[], empty: string): string {
  return rows.length === 0 ? empty : alignColumns([heading, ...rows.map((row) => row.map(withoutControls))]);
}

/** A time in seconds since 1970 as `2026-11-22 13:05`, in UTC. */
export function toTime(seconds: number | null): string {
  return seconds === null ? '-' : new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ');
}

/** A size such as `2.1 MB`, in powers of 1,000. */
export function toSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let index = 0;
  while (value >= 1000 && index < units.length - 1) {
    value /= 1000;
    index += 1;
  }
  return `${index === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[index]}`;
}

/**
 * Names come from other people: their control characters must not reach the terminal. Nor must characters that change
 * the writing direction, which can make one string look like another.
 */
export function withoutControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, ' ');
}

/** Like `withoutControls`, but for multi-line text. */
export function linesWithoutControls(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, ' ');
}

/** Single-line JSON that also escapes the control characters that JSON.stringify leaves alone. */
export function toJson(value: unknown): string {
  const escapeCode = (text: string): string => `\\u${text.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\p{Bidi_Control}]/gu, escapeCode);
}
