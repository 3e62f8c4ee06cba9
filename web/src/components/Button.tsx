import { LoaderCircle } from 'lucide-react';
import type { ButtonHTMLAttributes, ReactNode } from 'react';

export type ButtonTone = 'primary' | 'secondary' | 'quiet' | 'danger';
type Size = 'small' | 'normal' | 'icon';

const tones: Record<ButtonTone, string> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-hover',
  secondary: 'border border-control-line bg-raised text-text hover:bg-hover',
  quiet: 'text-text hover:bg-hover',
  danger: 'bg-danger text-on-danger hover:bg-danger-hover',
};
const sizes: Record<Size, string> = {
  small: 'h-8 px-2.5 text-sm',
  normal: 'h-10 px-4',
  icon: 'size-10',
};

/** The classes of a button, for a link that looks like one. */
export function buttonClass(tone: ButtonTone = 'secondary', size: Size = 'normal'): string {
  return `inline-flex shrink-0 items-center justify-center gap-2 rounded-lg font-medium whitespace-nowrap no-underline transition-colors disabled:opacity-60 disabled:pointer-events-none print:hidden ${tones[tone]} ${sizes[size]}`;
}

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  tone?: ButtonTone;
  size?: Size;
  icon?: ReactNode;
  /** Shows that the action is under way. The button cannot be pressed again meanwhile. */
  isPending?: boolean;
  ref?: React.Ref<HTMLButtonElement>;
};

export function Button({
  tone,
  size,
  icon,
  isPending = false,
  children,
  className = '',
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      className={`${buttonClass(tone, size)} ${className}`}
      // Not `disabled`, which would lose the focus.
      aria-disabled={isPending || undefined}
      onClick={isPending ? (event) => event.preventDefault() : onClick}
      {...rest}
    >
      {isPending ? <LoaderCircle aria-hidden size={18} className="animate-spin" /> : icon}
      {children}
    </button>
  );
}

/** A button with an icon alone. `label` is the accessible name and the tooltip. */
export function IconButton({
  label,
  icon,
  ...rest
}: Omit<ButtonProps, 'children'> & { label: string; icon: ReactNode }) {
  return (
    <Button tone="quiet" size="icon" aria-label={label} title={label} {...rest}>
      {icon}
    </Button>
  );
}
