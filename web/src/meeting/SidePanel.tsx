import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../components/Button.tsx';
import { useTexts } from '../languages/texts.ts';

/** The people or the chat, beside the tiles; on a phone above them. */
export function SidePanel({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const { write } = useTexts();
  return (
    <aside
      aria-label={title}
      className="absolute inset-0 z-20 flex min-h-0 flex-col border-line bg-page md:static md:w-80 md:shrink-0 md:border-s lg:w-88"
    >
      <header className="flex shrink-0 items-center justify-between gap-2 border-b border-line py-1 ps-4 pe-1">
        <h2 className="font-semibold">{title}</h2>
        <IconButton label={write('meeting.closePanel')} icon={<X aria-hidden size={18} />} onClick={onClose} />
      </header>
      {children}
    </aside>
  );
}
