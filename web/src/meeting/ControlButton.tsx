import type { ReactNode } from 'react';
import type { ShortcutKey } from './shortcuts.ts';

type Look = 'plain' | 'off' | 'active' | 'danger';

const looks: Record<Look, string> = {
  plain: 'bg-raised text-text hover:bg-hover border-line',
  off: 'bg-danger-soft text-danger-text hover:bg-hover border-transparent',
  active: 'bg-accent-soft text-accent-text hover:bg-hover border-transparent',
  danger: 'bg-danger text-on-danger hover:bg-danger-hover border-transparent',
};

type ControlButtonProps = {
  /** The accessible name, which says what pressing it does. */
  label: string;
  /** The word below the icon on larger screens: a part of the label. */
  word: string;
  icon: ReactNode;
  onClick: () => void;
  look?: Look;
  shortcut?: ShortcutKey;
  isPending?: boolean;
  isExpanded?: boolean;
  /** Something new behind the button: what a screen reader says of it, and the number that is shown. */
  news?: { count: number; shown: string; text: string };
};

/** A button of the bar below the tiles. */
export function ControlButton({
  label,
  word,
  icon,
  onClick,
  look = 'plain',
  shortcut,
  isPending = false,
  isExpanded,
  news,
}: ControlButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={shortcut === undefined ? label : `${label} (${shortcut})`}
      aria-keyshortcuts={shortcut}
      aria-expanded={isExpanded}
      aria-description={news?.text}
      aria-disabled={isPending || undefined}
      onClick={isPending ? undefined : onClick}
      className={`relative flex size-10 shrink-0 flex-col items-center justify-center gap-0.5 rounded-xl border transition-colors aria-disabled:opacity-60 sm:h-14 sm:w-18 ${looks[look]}`}
    >
      {icon}
      <span className="hidden text-xs font-medium sm:block">{word}</span>
      {news !== undefined && news.count > 0 && (
        <span
          aria-hidden
          className="absolute -end-1 -top-1 min-w-5 rounded-full bg-accent px-1 text-center text-xs leading-5 font-semibold text-on-accent"
        >
          {news.shown}
        </span>
      )}
    </button>
  );
}
