import { type RefObject, useLayoutEffect, useState } from 'react';
import type { Size } from './tile-layout.ts';

/** The size of an element, now and whenever it changes. */
export function useSize(element: RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const read = (): void => setSize({ width: current.clientWidth, height: current.clientHeight });
    const observer = new ResizeObserver(read);
    observer.observe(current);
    read();
    return () => observer.disconnect();
  }, [element]);
  return size;
}
