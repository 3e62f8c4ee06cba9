import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';

/** How many rows are in the page before and after those in sight. */
const OVERSCAN = 8;

type VirtualListProps = {
  /** What the list shows, for screen readers. */
  label: string;
  /** The total number of rows, including those that are not loaded yet. */
  count: number;
  /** The height of a row in pixels. */
  rowHeight: number;
  /** Returns what a row shows, or a skeleton for a row that is not loaded yet. */
  renderRow: (index: number) => ReactNode;
  /** Called with the first and last row in sight, so that they can be loaded. */
  onRange?: (first: number, last: number) => void;
  className?: string;
};

/** A list of any length, of which only the rows in sight are in the page, and the row that has the focus. */
export function VirtualList({
  label,
  count,
  rowHeight,
  renderRow,
  onRange,
  className = 'max-h-[70dvh]',
}: VirtualListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<number | null>(null);
  // Also keeps the focused row and its neighbours in the page, so that Tab can reach them.
  const extractRange = useCallback(
    (range: Range) => {
      const indexes = defaultRangeExtractor(range);
      if (focused === null) return indexes;
      const around = [focused - 1, focused, focused + 1].filter((index) => index >= 0 && index < range.count);
      return [...new Set([...indexes, ...around])].sort((one, other) => one - other);
    },
    [focused],
  );
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    rangeExtractor: extractRange,
  });
  const rows = virtualizer.getVirtualItems();
  const { startIndex = 0, endIndex = 0 } = virtualizer.range ?? {};
  const [first, last] = [Math.max(startIndex - OVERSCAN, 0), Math.min(endIndex + OVERSCAN, count - 1)];
  useEffect(() => onRange?.(first, last), [first, last, onRange]);

  return (
    <section
      ref={scroller}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
      tabIndex={0}
      className={`overflow-y-auto ${className}`}
      onBlur={({ currentTarget, relatedTarget }) => currentTarget.contains(relatedTarget) || setFocused(null)}
    >
      <ul className="relative m-0 list-none p-0" style={{ height: virtualizer.getTotalSize() }}>
        {rows.map(({ index, start, size, key }) => (
          <li
            key={key}
            aria-setsize={count}
            aria-posinset={index + 1}
            className="absolute inset-x-0 top-0"
            onFocus={() => setFocused(index)}
            style={{ height: size, transform: `translateY(${start}px)` }}
          >
            {renderRow(index)}
          </li>
        ))}
      </ul>
    </section>
  );
}
