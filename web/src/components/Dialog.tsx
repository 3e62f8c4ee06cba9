import { useMutation } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense } from 'react';
import { useDisplay } from '../lib/display.ts';
import { Button, type ButtonTone } from './Button.tsx';
import type { DialogProps } from './dialog-parts.tsx';
import { ErrorNote } from './ErrorPanel.tsx';

// 20 kB, which are loaded when the first dialog is opened.
const Loaded = lazy(() => import('./dialog-parts.tsx').then((parts) => ({ default: parts.Dialog })));

/** A dialog above the page. It is open while it is rendered. The focus then goes back to where it was. */
export function Dialog(props: DialogProps) {
  return (
    <Suspense>
      <Loaded {...props} />
    </Suspense>
  );
}

/** The row of buttons at the end of a dialog. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap justify-end gap-2">{children}</div>;
}

type ConfirmDialogProps = {
  onClose: () => void;
  title: string;
  /** What happens, and whether it can be undone. */
  text: ReactNode;
  /** The button, such as "Delete". */
  action: string;
  tone?: ButtonTone;
  /** The dialog shows the error if it rejects. */
  onConfirm: () => Promise<unknown>;
  /** Whether the dialog closes when `onConfirm` resolves. If not, its owner shows something else in its place. */
  closes?: boolean;
};

/** Asks before something that cannot be undone. */
export function ConfirmDialog({
  onClose,
  title,
  text,
  action,
  tone = 'danger',
  onConfirm,
  closes = true,
}: ConfirmDialogProps) {
  const { texts } = useDisplay();
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: () => closes && onClose() });

  return (
    <Dialog onClose={onClose} title={title} description={text}>
      {confirm.isError && <ErrorNote error={confirm.error} />}
      <DialogActions>
        <Button onClick={onClose}>{texts['shared.cancel']}</Button>
        <Button tone={tone} isPending={confirm.isPending} onClick={() => confirm.mutate()}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
