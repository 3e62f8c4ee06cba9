import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../components/Button.tsx';

/** The people or the chat, beside the tiles; on a phone above them. */
export function SidePanel({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  return (
    <aside
      aria-label={title}
      className="absolute inset-0 z-20 flex min-h-0 flex-col border-line bg-page md:static md:w-80 md:shrink-0 md:border-l lg:w-88"
    >
      <header className="flex shrink-0 items-center justify-between gap-2 border-b border-line py-1 pr-1 pl-4">
        <h2 className="font-semibold">{title}</h2>
        <IconButton label="Close the panel" icon={<X aria-hidden size={18} />} onClick={onClose} />
      </header>
      {children}
    </aside>
  );
}
