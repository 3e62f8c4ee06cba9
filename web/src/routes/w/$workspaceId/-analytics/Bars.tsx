import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../../../lib/format.ts';
import type { ListLink } from './lists.ts';

export type Bar = { name: string; count: number; link: ListLink };

/** Horizontal bars with names, the largest first. Each leads to the list of what it counts. */
export function Bars({ rows }: { rows: readonly Bar[] }) {
  if (rows.length === 0) return <p className="text-muted">None yet</p>;
  const max = Math.max(...rows.map(({ count }) => count));
  return (
    <div className="flex flex-col gap-3">
      {rows.map(({ name, count, link }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: names are not unique, and rows have no state.
        <Link key={index} {...link} className="rounded-lg hover:bg-hover">
          <span className="flex justify-between gap-4">
            <span className="min-w-0 underline">{name}</span>
            <span className="tabular-nums">{formatNumber(count)}</span>
          </span>
          <svg
            aria-hidden="true"
            viewBox="0 0 100 1"
            preserveAspectRatio="none"
            className="mt-1 h-2 w-full rounded-full"
          >
            <rect width="100" height="1" className="fill-hover" />
            <rect width={Math.max((count / max) * 100, 1)} height="1" className="fill-accent-text" />
          </svg>
        </Link>
      ))}
    </div>
  );
}
