import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';

type VirtualListProps = {
  /** What the list shows, for screen readers. */
  label: string;
  /** How many rows there are, also those that are not read yet. */
  count: number;
  /** The height of a row in pixels. */
  rowHeight: number;
  /** Returns what a row shows, or a skeleton for a row that is not read yet. */
  renderRow: (index: number) => ReactNode;
  /** Called with the first and last row in sight, so that they can be read. */
  onRange?: (first: number, last: number) => void;
  className?: string;
};

/** A list of any length, of which only the rows in sight are in the page. */
export function VirtualList({
  label,
  count,
  rowHeight,
  renderRow,
  onRange,
  className = 'h-[70dvh]',
}: VirtualListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
  });
  const rows = virtualizer.getVirtualItems();
  const [first, last] = [rows[0]?.index ?? 0, rows.at(-1)?.index ?? 0];
  useEffect(() => onRange?.(first, last), [first, last, onRange]);

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
    <section ref={scroller} aria-label={label} tabIndex={0} className={`overflow-y-auto ${className}`}>
      <ul className="relative m-0 list-none p-0" style={{ height: virtualizer.getTotalSize() }}>
        {rows.map(({ index, start, size, key }) => (
          <li
            key={key}
            aria-setsize={count}
            aria-posinset={index + 1}
            className="absolute inset-x-0 top-0"
            style={{ height: size, transform: `translateY(${start}px)` }}
          >
            {renderRow(index)}
          </li>
        ))}
      </ul>
    </section>
  );
}
