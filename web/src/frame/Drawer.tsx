import { Dialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../components/Button.tsx';

/** The side navigation on a narrow screen, above the page. */
export function Drawer({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  return (
    <Dialog.Root open onOpenChange={onClose}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-30 bg-(--backdrop)" />
        <Dialog.Popup className="fixed inset-y-0 left-0 z-40 flex w-72 max-w-[85vw] flex-col gap-4 overflow-y-auto border-r border-line bg-panel p-4">
          <Dialog.Title className="sr-only">Menu</Dialog.Title>
          <Dialog.Close
            render={<IconButton label="Close" icon={<X aria-hidden size={18} />} className="absolute top-3 right-3" />}
          />
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
