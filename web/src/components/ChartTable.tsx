import { type ReactNode, useState } from 'react';
import { Button } from './Button.tsx';
import { type Column, Table } from './Table.tsx';

type ChartTableProps<Row> = {
  title: string;
  /** The picture. It is hidden from screen readers, which get the table. */
  chart: ReactNode;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
};

/** A chart that can be read as a table too. */
export function ChartTable<Row>({ title, chart, columns, rows, keyOf }: ChartTableProps<Row>) {
  const [isTable, setIsTable] = useState(false);
  return (
    <section aria-label={title} className="rounded-xl border border-line p-4">
      <div className="mb-3 flex items-center justify-between gap-2">
        <h2 className="font-medium">{title}</h2>
        <Button tone="quiet" size="small" aria-pressed={isTable} onClick={() => setIsTable(!isTable)}>
          {isTable ? 'Show as a chart' : 'Show as a table'}
        </Button>
      </div>
      {!isTable && <div aria-hidden>{chart}</div>}
      <div className={isTable ? '' : 'sr-only'}>
        <Table caption={title} {...{ columns, rows, keyOf }} />
      </div>
    </section>
  );
}
