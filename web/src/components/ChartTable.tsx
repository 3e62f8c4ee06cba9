import { type ReactNode, useState } from 'react';
import { Button } from './Button.tsx';
import { type Column, Table } from './Table.tsx';

type ChartTableProps<Row> = {
  title: string;
  /** What the picture shows, in a sentence, for those who do not see it. */
  summary: string;
  /** The picture, whose bars may be links. */
  chart: ReactNode;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
};

/** A chart that can be read as a table too. */
export function ChartTable<Row>({ title, summary, chart, columns, rows, keyOf }: ChartTableProps<Row>) {
  const [isTable, setIsTable] = useState(false);
  return (
    <section className="min-w-0 rounded-xl border border-line p-4">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h2 className="font-medium">{title}</h2>
        <Button
          tone="quiet"
          size="small"
          aria-label={`${isTable ? 'Show as a chart' : 'Show as a table'}: ${title}`}
          onClick={() => setIsTable(!isTable)}
        >
          {isTable ? 'Show as a chart' : 'Show as a table'}
        </Button>
      </div>
      {isTable ? (
        <div className="max-h-96 overflow-y-auto">
          <Table caption={title} columns={columns} rows={rows} keyOf={keyOf} />
        </div>
      ) : (
        <figure className="m-0" aria-label={`${title}. ${summary}`}>
          {chart}
        </figure>
      )}
    </section>
  );
}
