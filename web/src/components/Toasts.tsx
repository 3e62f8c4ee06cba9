import { X } from 'lucide-react';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { useDisplay } from '../lib/display.ts';
import { dismissToast, readToasts, subscribeToToasts, type Toast } from '../lib/toasts.ts';
import { Button, IconButton } from './Button.tsx';
import { CopyRequestId } from './CopyRequestId.tsx';

const SHOWN_MS = 6_000;
/** Doing something takes longer than reading. */
const SHOWN_WITH_ACTION_MS = 12_000;

/** Shows messages until they are dismissed. Success messages also disappear after a while. */
export function Toasts() {
  const { texts } = useDisplay();
  const toasts = useSyncExternalStore(subscribeToToasts, readToasts);
  return (
    // Screen readers read only what is added to a region that is there already.
    <section
      aria-label={texts['shared.messages']}
      aria-live="polite"
      className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex flex-col items-end gap-2"
    >
      {toasts.map((toast) => (
        <ToastBox key={toast.id} {...toast} />
      ))}
    </section>
  );
}

function ToastBox({ id, tone, message, requestId, action }: Toast) {
  const { texts } = useDisplay();
  const [isHeld, setIsHeld] = useState(false);
  const hasAction = action !== undefined;
  useEffect(() => {
    // An error message stays until it is dismissed.
    if (isHeld || tone === 'error') return;
    const timer = setTimeout(() => dismissToast(id), hasAction ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, isHeld, tone, hasAction]);
  const colours = tone === 'error' ? 'bg-danger-soft text-danger-text' : 'bg-success-soft text-success-text';
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the handlers only delay when the message disappears.
    <div
      className={`appear pointer-events-auto flex w-full max-w-md items-center gap-2 rounded-xl border border-line py-1 ps-4 pe-1 shadow-raised ${colours}`}
      onPointerEnter={() => setIsHeld(true)}
      onPointerLeave={() => setIsHeld(false)}
      onFocus={() => setIsHeld(true)}
      onBlur={() => setIsHeld(false)}
    >
      <p className="grow py-2">{message}</p>
      {action && (
        <Button
          size="small"
          onClick={() => {
            dismissToast(id);
            action.onSelect();
          }}
        >
          {action.label}
        </Button>
      )}
      {requestId !== null && <CopyRequestId id={requestId} />}
      <IconButton label={texts['shared.dismiss']} icon={<X aria-hidden size={16} />} onClick={() => dismissToast(id)} />
    </div>
  );
}
