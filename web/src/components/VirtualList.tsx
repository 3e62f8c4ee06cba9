import { defaultRangeExtractor, type Range, useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

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

/**
 * A list of any length, of which only the rows in sight are in the page, and the row that has the focus. It scrolls with
 * the page.
 */
export function VirtualList({ label, count, rowHeight, renderRow, onRange, className = '' }: VirtualListProps) {
  const list = useRef<HTMLDivElement>(null);
  const top = useTop(list);
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
  const virtualizer = useWindowVirtualizer({
    count,
    scrollMargin: top,
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
      ref={list}
      aria-label={label}
      className={className}
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
            style={{ height: size, transform: `translateY(${start - top}px)` }}
          >
            {renderRow(index)}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** How far below the top of the page an element begins, also after something above it has grown or shrunk. */
function useTop(element: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = (): void => {
      if (element.current !== null) setTop(Math.round(element.current.getBoundingClientRect().top + scrollY));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [element]);
  return top;
}
