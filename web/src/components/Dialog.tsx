import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button, type ButtonTone, buttonClass } from './Button.tsx';
import { ErrorNote } from './ErrorPanel.tsx';

type DialogProps = {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  isWide?: boolean;
};

/** A dialog above the page. Escape and the cross close it. The focus then goes back to where it was. */
export function Dialog({ isOpen, onOpenChange, title, description, children, isWide = false }: DialogProps) {
  return (
    <Base.Root open={isOpen} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-30 bg-(--backdrop)" />
        <Base.Popup
          className={`appear fixed top-1/2 left-1/2 z-40 flex max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 flex-col gap-4 overflow-y-auto rounded-2xl border border-line bg-raised p-6 shadow-raised ${isWide ? 'max-w-2xl' : 'max-w-md'}`}
        >
          <div className="flex items-start justify-between gap-4">
            <Base.Title className="text-lg font-semibold">{title}</Base.Title>
            <Base.Close aria-label="Close" className={`${buttonClass('quiet', 'icon')} -mt-2 -mr-2`}>
              <X aria-hidden size={18} />
            </Base.Close>
          </div>
          {description !== undefined && <Base.Description className="text-muted">{description}</Base.Description>}
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** The row of buttons at the end of a dialog. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap justify-end gap-2">{children}</div>;
}

type ConfirmDialogProps = {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  title: string;
  /** What happens, and whether it can be undone. */
  text: ReactNode;
  /** The button, such as "Delete". */
  action: string;
  tone?: ButtonTone;
  /** The dialog closes when it resolves, and shows the error if it rejects. */
  onConfirm: () => Promise<unknown>;
};

/** Asks before something that cannot be undone. */
export function ConfirmDialog({
  isOpen,
  onOpenChange,
  title,
  text,
  action,
  tone = 'danger',
  onConfirm,
}: ConfirmDialogProps) {
  const [state, setState] = useState<{ isPending: boolean; error: unknown }>({ isPending: false, error: null });

  async function confirm(): Promise<void> {
    setState({ isPending: true, error: null });
    try {
      await onConfirm();
      setState({ isPending: false, error: null });
      onOpenChange(false);
    } catch (error) {
      setState({ isPending: false, error: error });
    }
  }

  function change(open: boolean): void {
    setState({ isPending: false, error: null });
    onOpenChange(open);
  }

  return (
    <Dialog isOpen={isOpen} onOpenChange={change} title={title} description={text}>
      {state.error !== null && <ErrorNote error={state.error} />}
      <DialogActions>
        <Button onClick={() => change(false)}>Cancel</Button>
        <Button tone={tone} isPending={state.isPending} onClick={confirm}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
