/** The dialog of `Dialog.tsx`, which loads it when one is opened. */
import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type CSSProperties, type ReactNode, useEffect, useRef, useState } from 'react';
import { useDisplay } from '../lib/display.ts';
import { isEmbedded } from '../lib/embedded.ts';
import { hasUnsavedChanges } from '../lib/unsaved.ts';
import { Button, buttonClass } from './Button.tsx';

export type DialogProps = {
  /** Called by Escape and the cross. The owner then no longer renders the dialog. */
  onClose: () => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  isWide?: boolean;
};

const FIELDS = 'input, select, textarea';
const CONTROLS = `${FIELDS}, button, a, summary, video, iframe`;

/**
 * A dialog above the page. Escape and the cross close it, after a question if changes in it are not saved. The focus then
 * goes back to where it was.
 */
export function Dialog({ onClose, title, description, children, isWide = false }: DialogProps) {
  const { texts } = useDisplay();
  const content = useRef<HTMLDivElement>(null);
  const openedAt = useRef('');
  const [isAsking, setIsAsking] = useState(false);
  const place = useVisiblePlace();

  /** The first control if it is a field, so that people can type. Else the cross, which is the default. */
  function chooseFirst(openType: string): HTMLElement | true {
    openedAt.current = location.pathname;
    const first = content.current?.querySelector<HTMLElement>(CONTROLS);
    // After a touch, a focused field would bring up the on-screen keyboard.
    return openType !== 'touch' && first?.matches(FIELDS) ? first : true;
  }

  /** Where the focus was, which is the default. If the dialog has led to another page, the content of that page. */
  function chooseLast(): boolean {
    if (location.pathname === openedAt.current) return true;
    document.getElementById('content')?.focus();
    return false;
  }

  return (
    <Base.Root open onOpenChange={() => (hasUnsavedChanges(content.current) ? setIsAsking(true) : onClose())}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-30 bg-(--backdrop)" />
        <Base.Popup
          initialFocus={chooseFirst}
          finalFocus={chooseLast}
          style={place}
          className={`appear fixed top-1/2 left-1/2 z-40 flex max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 flex-col gap-4 overflow-y-auto rounded-2xl border border-line bg-raised p-6 shadow-raised ${isWide ? 'max-w-2xl' : 'max-w-md'}`}
        >
          <div className="flex items-start justify-between gap-4">
            <Base.Title className="text-lg font-semibold">{title}</Base.Title>
            <Base.Close aria-label={texts['shared.close']} className={`${buttonClass('quiet', 'icon')} -me-2 -mt-2`}>
              <X aria-hidden size={18} />
            </Base.Close>
          </div>
          {description !== undefined && <Base.Description className="text-muted">{description}</Base.Description>}
          <div ref={content} className="contents">
            {children}
          </div>
          {isAsking && (
            <Dialog onClose={() => setIsAsking(false)} title="Close without saving?">
              <p className="text-muted">What you have changed here is lost.</p>
              <div className="flex flex-wrap justify-end gap-2">
                <Button onClick={() => setIsAsking(false)}>Cancel</Button>
                <Button tone="danger" onClick={onClose}>
                  Close without saving
                </Button>
              </div>
            </Dialog>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/**
 * Where a dialog belongs in a frame of another origin that is higher than the window of its page: in the middle of what
 * the person sees of it. Undefined elsewhere, and until it is known.
 */
function useVisiblePlace(): CSSProperties | undefined {
  const [place, setPlace] = useState<CSSProperties>();
  useEffect(() => {
    if (!isEmbedded) return;
    const observer = new IntersectionObserver((entries) => {
      const { top, height } = entries[0]?.intersectionRect ?? { top: 0, height: 0 };
      if (height > 0) setPlace({ top: top + height / 2, maxHeight: `calc(${height}px - 2rem)` });
      observer.disconnect();
    });
    observer.observe(document.documentElement);
    return () => observer.disconnect();
  }, []);
  return place;
}
