import { useEffect, useState } from 'react';
import type { WriteText } from '../../../../src/languages/catalogue.ts';
import { useTexts } from '../../languages/texts.ts';
import { formatBytes } from '../../lib/format.ts';
import type { RecorderState } from './types.ts';

/**
 * Says what the recorder does, and what the person should know: that a recording is being sent, where it will be, and
 * what went wrong. Shows nothing while there is nothing to say.
 */
export function RecorderStatus({ state }: { state: RecorderState }) {
  const { write, writeTextOf } = useTexts();
  const { status, notice, error, result, earlier } = state;
  const lines = [
    error && writeTextOf(error),
    status === 'sending' ? describeProgress(write, state) : null,
    notice && writeTextOf(notice),
    result && writeTextOf(result),
    earlier === 0 ? null : write('recorder.earlierCount', { count: earlier }),
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
function describeProgress(write: WriteText, { sentBytes, capturedBytes }: RecorderState): string {
  const left = capturedBytes - sentBytes;
  return left > 0 ? write('recorder.sendingLeft', { size: formatBytes(left) }) : write('recorder.sendingOne');
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
