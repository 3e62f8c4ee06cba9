import type { InfiniteData, UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './Button.tsx';
import { ErrorPanel } from './ErrorPanel.tsx';
import { SkeletonRows } from './Skeleton.tsx';

/** A table with more columns would scroll sideways on a phone. */
const MAX_PHONE_COLUMNS = 2;

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
  /** Whether other rows are on the way. These are dimmed until then. */
  isBusy?: boolean;
};

/**
 * A table for up to a few hundred rows. On a phone each row is a card, in which the headings are beside the cells. On
 * other narrow screens the table scrolls sideways, and the page does not. It is `relative`, so that its texts for screen
 * readers, which are placed absolutely, do not make the page wider.
 */
export function Table<Row>({ caption, columns, rows, keyOf, isBusy }: TableProps<Row>) {
  return (
    <section
      aria-label={caption}
      aria-busy={isBusy}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
      tabIndex={0}
      className={`relative overflow-x-auto rounded-xl border border-line print:overflow-visible ${isBusy ? 'opacity-60' : ''}`}
    >
      <table className={`w-full border-collapse text-left ${columns.length > MAX_PHONE_COLUMNS ? 'cards' : ''}`}>
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
              {columns.map(({ heading, isHeadingHidden, cell, isNumber, className = '' }, index) => (
                <td
                  key={heading}
                  // The first cell says what the card is about.
                  data-heading={index === 0 || isHeadingHidden ? undefined : heading}
                  data-actions={isHeadingHidden}
                  className={`px-4 py-2 ${isNumber ? 'text-right tabular-nums' : ''} ${className}`}
                >
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

type ListProps<Row> = {
  /** What an error is about, such as "The members could not be loaded". */
  failure: string;
  /** In place of the rows if there are none. A list that always has a row needs none. */
  empty?: ReactNode;
  /** The number of rows of the skeleton. */
  skeletonRows?: number;
  className?: string;
  children: (rows: readonly Row[]) => ReactNode;
};

type ReadProps<Row> = ListProps<Row> & {
  list: Pick<UseQueryResult<unknown, unknown>, 'isPending' | 'isError' | 'error' | 'refetch'>;
  rows: readonly Row[];
  /** Below the rows. */
  more?: ReactNode;
};

/**
 * What was read of a list: a skeleton until something is there, the rows, or what is shown if there are none. An error
 * is above the rows that were read before.
 */
function ReadList<Row>({ list, rows, failure, empty, skeletonRows, more, className = '', children }: ReadProps<Row>) {
  if (list.isPending) return <SkeletonRows count={skeletonRows} />;
  return (
    <div className={`flex flex-col gap-4 ${className}`}>
      {list.isError && <ErrorPanel what={failure} error={list.error} onRetry={() => list.refetch()} />}
      {rows.length > 0 ? children(rows) : !list.isError && empty}
      {more}
    </div>
  );
}

type InfiniteListProps<Page, Row> = ListProps<Row> & {
  /** What `useInfiniteQuery` returns. */
  list: UseInfiniteQueryResult<InfiniteData<Page, unknown>, unknown>;
  /** The rows of a page, such as `(page) => page.members`. */
  rowsOf: (page: Page) => readonly Row[];
  /** The button that loads the next page. */
  more?: string;
};

/** A list that is read page by page: the rows of all pages that were read, and a button for the next page. */
export function InfiniteList<Page, Row>({ list, rowsOf, more = 'Show more', ...props }: InfiniteListProps<Page, Row>) {
  const next = list.hasNextPage && (
    <p className="text-center">
      <Button isPending={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
        {more}
      </Button>
    </p>
  );
  return <ReadList {...props} list={list} rows={list.data?.pages.flatMap(rowsOf) ?? []} more={next} />;
}

type InfiniteTableProps<Page, Row> = Omit<InfiniteListProps<Page, Row>, 'children' | 'className'> &
  Pick<TableProps<Row>, 'caption' | 'columns' | 'keyOf'>;

/** An `InfiniteList` as a table. Rows of another search are dimmed until those of this one are there. */
export function InfiniteTable<Page, Row>({ caption, columns, keyOf, ...props }: InfiniteTableProps<Page, Row>) {
  return (
    // In a dialog, the table scrolls instead of the dialog.
    <InfiniteList {...props} className="min-h-0">
      {(rows) => (
        <Table caption={caption} columns={columns} keyOf={keyOf} rows={rows} isBusy={props.list.isPlaceholderData} />
      )}
    </InfiniteList>
  );
}

type WholeListProps<Data, Row> = ListProps<Row> & {
  /** What `useQuery` returns. */
  list: UseQueryResult<Data, unknown>;
  /** The rows of the answer, such as `(answer) => answer.labels`. */
  rowsOf: (data: Data) => readonly Row[];
};

/** A list that is short enough to be read at once. */
export function WholeList<Data, Row>({ list, rowsOf, ...props }: WholeListProps<Data, Row>) {
  return <ReadList {...props} list={list} rows={list.data === undefined ? [] : rowsOf(list.data)} />;
}

type WholeTableProps<Data, Row> = Omit<WholeListProps<Data, Row>, 'children' | 'className'> &
  Pick<TableProps<Row>, 'caption' | 'columns' | 'keyOf'>;

/** A `WholeList` as a table. */
export function WholeTable<Data, Row>({ caption, columns, keyOf, ...props }: WholeTableProps<Data, Row>) {
  return (
    <WholeList {...props}>
      {(rows) => <Table caption={caption} columns={columns} keyOf={keyOf} rows={rows} />}
    </WholeList>
  );
}
