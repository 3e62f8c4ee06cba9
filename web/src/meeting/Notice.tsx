import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../components/Button.tsx';
import { useDisplay } from '../lib/display.ts';

type NoticeProps = {
  children: ReactNode;
  icon?: ReactNode;
  actions?: ReactNode;
  onDismiss?: () => void;
};

/** Something that needs attention, above the tiles. */
export function Notice({ children, icon, actions, onDismiss }: NoticeProps) {
  const { texts } = useDisplay();
  return (
    <div className="appear pointer-events-auto flex w-full max-w-lg flex-wrap items-center gap-x-3 gap-y-2 rounded-xl border border-line bg-raised px-4 py-2 shadow-raised">
      {icon}
      <div className="min-w-40 flex-1">{children}</div>
      {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
      {onDismiss && (
        <IconButton label={texts['shared.dismiss']} icon={<X aria-hidden size={18} />} onClick={onDismiss} />
      )}
    </div>
  );
}

/** The name of a person in a text. It keeps its own direction. */
export function Name({ children }: { children: string }) {
  return <bdi className="font-medium">{children}</bdi>;
}
