import { useEffect, useState } from 'react';
import { formatBytes } from '../../lib/format.ts';
import type { RecorderState } from './types.ts';

/**
 * Says what the recorder does, and what the person should know: that a recording is being sent, where it will be, and
 * what went wrong. Shows nothing while there is nothing to say.
 */
export function RecorderStatus({ state }: { state: RecorderState }) {
  const { status, notice, error, result, earlier } = state;
  const lines = [
    error,
    status === 'sending' ? describeProgress(state) : null,
    notice,
    result,
    earlier === 0 ? null : describeEarlier(earlier),
  ].filter((line) => line !== null);
  return (
    // Screen readers read only what is added to a region that is there already.
    <div role="status" className="flex flex-col gap-1 empty:hidden">
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
  );
}

/** Without the number of bytes, which would be read out each time. */
function describeProgress({ sentBytes, capturedBytes }: RecorderState): string {
  const left = capturedBytes - sentBytes;
  return left > 0
    ? `Sending the recording… ${formatBytes(left)} left. Do not close this page.`
    : 'Sending the recording…';
}

function describeEarlier(count: number): string {
  return count === 1 ? 'An earlier recording is being sent…' : `${count} earlier recordings are being sent…`;
}

/** How long it has been recording, in seconds, for the page to show beside the button. */
export function useRecordedSeconds({ startedAt }: RecorderState): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (startedAt === null) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [startedAt]);
  return startedAt === null ? 0 : Math.max(0, Math.floor((now - startedAt) / 1_000));
}
