import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Disc } from 'lucide-react';
import { Button } from '../components/Button.tsx';
import { useTexts } from '../languages/texts.ts';
import { sayRecorded } from './recording-texts.ts';

type ConsentDialogProps = {
  /** Who records; null if a host started it from outside of the meeting. */
  name: string | null;
  whoWillSee: string;
  onStay: () => void;
  onLeave: () => void;
};

/**
 * Asks whether the person stays in a meeting that is recorded from now on. Screen readers read it at once (the role
 * `alertdialog`), and Escape does not answer it.
 */
export function ConsentDialog({ name, whoWillSee, onStay, onLeave }: ConsentDialogProps) {
  const { write } = useTexts();
  return (
    <AlertDialog.Root open>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="fixed inset-0 z-30 bg-(--backdrop)" />
        <AlertDialog.Popup className="appear fixed top-1/2 left-1/2 z-40 flex max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] max-w-md -translate-x-1/2 -translate-y-1/2 flex-col gap-4 overflow-y-auto rounded-2xl border border-line bg-raised p-6 shadow-raised">
          <AlertDialog.Title className="flex items-start gap-2 text-lg font-semibold">
            <Disc aria-hidden size={22} className="mt-0.5 shrink-0 text-danger-text" />
            {sayRecorded(write, name)}
          </AlertDialog.Title>
          <AlertDialog.Description className="text-muted">
            {write('recording.consent')} {whoWillSee}
          </AlertDialog.Description>
          <div className="flex flex-wrap justify-end gap-2">
            <Button onClick={onLeave}>{write('room.leave')}</Button>
            <Button tone="primary" onClick={onStay}>
              {write('recording.stay')}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
