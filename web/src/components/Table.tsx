import type { ReactNode } from 'react';

export type Column<Row> = {
  /** The heading. Give `isHeadingHidden` for a column of buttons. */
  heading: string;
  isHeadingHidden?: boolean;
  cell: (row: Row) => ReactNode;
  isNumber?: boolean;
  className?: string;
};

type TableProps<Row> = {
  /** What the table shows, for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
};

/**
 * A table for up to a few hundred rows. On a narrow screen the table scrolls sideways, and the page does not. It is
 * `relative`, so that its texts for screen readers, which are placed absolutely, do not make the page wider.
 */
export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
    <section aria-label={caption} tabIndex={0} className="relative overflow-x-auto rounded-xl border border-line">
      <table className="w-full border-collapse text-left">
        <caption className="sr-only">{caption}</caption>
        <thead className="bg-panel text-sm text-muted">
          <tr>
            {columns.map(({ heading, isHeadingHidden, isNumber }) => (
              <th
                key={heading}
                scope="col"
                className={`px-4 py-2 font-medium whitespace-nowrap ${isNumber ? 'text-right' : ''}`}
              >
                {isHeadingHidden ? <span className="sr-only">{heading}</span> : heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className="border-t border-line">
              {columns.map(({ heading, cell, isNumber, className = '' }) => (
                <td key={heading} className={`px-4 py-2 ${isNumber ? 'text-right tabular-nums' : ''} ${className}`}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
