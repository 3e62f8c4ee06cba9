import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { WholeList } from '../../../../components/Table.tsx';

type CardProps<Data, Row> = {
  title: string;
  actions?: ReactNode;
  list: UseQueryResult<Data, unknown>;
  rowsOf: (data: Data) => readonly Row[];
  keyOf: (row: Row) => number;
  /** The message if the list could not be loaded. */
  failure: string;
  /** A sentence for when there are no rows. */
  empty: ReactNode;
  /** Below the rows. */
  more?: ReactNode;
  /** A row: what it is about on the left, and what one can do with it on the right. */
  children: (row: Row) => ReactNode;
};

/** A part of the first page: a heading, and a short list. */
export function Card<Data, Row>({ title, actions, keyOf, empty, more, children, ...list }: CardProps<Data, Row>) {
  return (
    <section aria-label={title} className="min-w-0 rounded-xl border border-line p-4 sm:p-5">
      <div className="mb-3 flex min-h-8 flex-wrap items-center justify-between gap-2">
        <h2 className="text-lg font-semibold">{title}</h2>
        {actions}
      </div>
      <WholeList {...list} skeletonRows={2} empty={<p className="text-muted">{empty}</p>}>
        {(rows) => (
          <ul className="m-0 list-none p-0">
            {rows.map((row) => (
              <li
                key={keyOf(row)}
                className="flex min-h-12 flex-wrap items-center justify-between gap-x-3 gap-y-1 border-t border-line py-2"
              >
                {children(row)}
              </li>
            ))}
          </ul>
        )}
      </WholeList>
      {more}
    </section>
  );
}
