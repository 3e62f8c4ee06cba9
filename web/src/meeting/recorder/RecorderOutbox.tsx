import { HardDriveUpload, X } from 'lucide-react';
import { useEffect, useSyncExternalStore } from 'react';
import { IconButton } from '../../components/Button.tsx';
import { useTexts } from '../../languages/texts.ts';
import { useDisplay } from '../../lib/display.ts';
import { outbox } from './outbox.ts';

/**
 * Sends what earlier pages have recorded, and shows it, as well as what is still being sent after the person has left
 * the meeting. During a meeting, the recorder shows this.
 */
export function RecorderOutbox() {
  const { count, message, hasRecorder } = useSyncExternalStore(outbox.subscribe, outbox.getState);
  const { write, writeTextOf } = useTexts();
  const { texts } = useDisplay();
  useEffect(() => outbox.open(), []);
  const isShown = !hasRecorder && (count > 0 || message !== null);
  return (
    // Screen readers read only what is added to a region that is there already.
    <div
      role="status"
      aria-label={write('recorder.sentList')}
      className="fixed inset-x-4 bottom-4 z-40 flex justify-center"
    >
      {isShown && (
        <div className="flex max-w-lg items-center gap-3 rounded-lg border border-line bg-raised px-4 py-3 shadow-lg">
          <HardDriveUpload aria-hidden size={20} className="shrink-0 text-accent-text" />
          <p>{count > 0 ? write('recorder.sendingCount', { count }) : message && writeTextOf(message)}</p>
          {count === 0 && (
            <IconButton label={texts['shared.dismiss']} icon={<X aria-hidden size={16} />} onClick={outbox.dismiss} />
          )}
        </div>
      )}
    </div>
  );
}
