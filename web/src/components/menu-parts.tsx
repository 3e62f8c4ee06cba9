/** The parts of `Menu.tsx`, which loads them when somebody is about to open a menu. */
import { Menu as Base } from '@base-ui/react/menu';
import { Check } from 'lucide-react';
import { type ButtonHTMLAttributes, cloneElement, type ReactElement, type ReactNode, useEffect, useRef } from 'react';

export type MenuProps = {
  /** The button that opens it, such as `<IconButton label="Actions" icon={…} />`. */
  trigger: ReactElement<ButtonHTMLAttributes<HTMLButtonElement>>;
  children: ReactNode;
  align?: 'start' | 'end';
};

/** A menu that opens as soon as it is shown. If the keyboard opened it, its first item has the focus. */
export function Menu({ trigger, children, align = 'end', isByKeyboard }: MenuProps & { isByKeyboard: boolean }) {
  const button = useRef<HTMLButtonElement>(null);
  const isOpened = useRef(!isByKeyboard);
  useEffect(() => {
    if (isOpened.current) return;
    isOpened.current = true;
    // The button that had the focus was replaced by this one.
    button.current?.focus();
    button.current?.click();
  }, []);
  return (
    <Base.Root modal={false} defaultOpen={!isByKeyboard}>
      <Base.Trigger ref={button} render={trigger} />
      <Base.Portal>
        <Base.Positioner align={align} sideOffset={6} className="z-50">
          <Base.Popup className="appear max-h-(--available-height) max-w-[min(22rem,calc(100vw-2rem))] min-w-48 overflow-y-auto rounded-xl border border-line bg-raised p-1 shadow-raised">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

const itemClass =
  'flex min-h-9 w-full cursor-pointer items-center gap-2 rounded-lg px-3 py-1.5 text-left no-underline outline-none data-[highlighted]:bg-hover';

export type MenuItemProps = { icon?: ReactNode; children: ReactNode; onSelect: () => void; isDanger?: boolean };

export function MenuItem({ icon, children, onSelect, isDanger = false }: MenuItemProps) {
  return (
    <Base.Item className={`${itemClass} ${isDanger ? 'text-danger-text' : ''}`} onClick={onSelect}>
      {icon}
      {children}
    </Base.Item>
  );
}

export type MenuLinkProps = { icon?: ReactNode; children: ReactNode; link: ReactElement };

/** An item that is a link, such as `<MenuLink link={<Link to="/account" />}>Account</MenuLink>`. */
export function MenuLink({ icon, children, link }: MenuLinkProps) {
  // Children of `link`, which linters want to see where it is written, would replace the icon.
  return <Base.Item className={itemClass} render={cloneElement(link, {}, icon, children)} />;
}

export function MenuSeparator() {
  return <Base.Separator className="my-1 border-t border-line" />;
}

export type MenuChoiceProps<Value extends string> = {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange: (value: Value) => void;
};

/** One choice among a few, inside a menu. */
export function MenuChoice<Value extends string>({ label, value, options, onChange }: MenuChoiceProps<Value>) {
  return (
    <Base.Group>
      <Base.GroupLabel className="px-3 py-1 text-sm text-muted">{label}</Base.GroupLabel>
      <Base.RadioGroup value={value} onValueChange={onChange}>
        {options.map((option) => (
          <Base.RadioItem key={option.value} value={option.value} className={itemClass} closeOnClick>
            <span className="size-4">
              <Base.RadioItemIndicator>
                <Check aria-hidden size={16} />
              </Base.RadioItemIndicator>
            </span>
            {option.label}
          </Base.RadioItem>
        ))}
      </Base.RadioGroup>
    </Base.Group>
  );
}
