import { formatNumber } from '../../../../lib/format.ts';

/** Horizontal bars with names, the largest first. */
export function Bars({ rows }: { rows: readonly { name: string; count: number }[] }) {
  if (rows.length === 0) return <p className="text-muted">None yet</p>;
  const max = Math.max(...rows.map(({ count }) => count));
  return (
    <div className="flex flex-col gap-3">
      {rows.map(({ name, count }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: names are not unique, and rows have no state.
        <div key={index}>
          <div className="flex justify-between gap-4">
            <span className="min-w-0">{name}</span>
            <span className="tabular-nums">{formatNumber(count)}</span>
          </div>
          <svg
            aria-hidden="true"
            viewBox="0 0 100 1"
            preserveAspectRatio="none"
            className="mt-1 h-2 w-full rounded-full"
          >
            <rect width="100" height="1" className="fill-hover" />
            <rect width={Math.max((count / max) * 100, 1)} height="1" className="fill-accent-text" />
          </svg>
        </div>
      ))}
    </div>
  );
}
