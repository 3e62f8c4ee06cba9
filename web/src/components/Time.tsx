import { useEffect, useState } from 'react';
import { useDisplay } from '../lib/display.ts';
import { formatDateTime, formatExactly, formatRelatively } from '../lib/format.ts';

const TICK_MS = 30_000;

/** A time in the viewer's zone. A tooltip shows the exact time. `at` is in Unix seconds. */
export function Time({ at, isRelative = true }: { at: number; isRelative?: boolean }) {
  // Rendered again in another language.
  useDisplay();
  const [, setTick] = useState(0);
  useEffect(() => {
    if (!isRelative) return;
    const timer = setInterval(() => setTick((tick) => tick + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [isRelative]);
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={formatExactly(at)} className="whitespace-nowrap">
      {isRelative ? formatRelatively(at) : formatDateTime(at)}
    </time>
  );
}
