/** Menus. Their code, 40 kB, is loaded when somebody is about to open one. */
import { cloneElement, lazy, type MouseEvent, Suspense, useState } from 'react';
import type { MenuChoiceProps, MenuItemProps, MenuLinkProps, MenuProps } from './menu-parts.tsx';

const load = () => import('./menu-parts.tsx');
const Parts = {
  Menu: lazy(() => load().then(({ Menu }) => ({ default: Menu }))),
  Item: lazy(() => load().then(({ MenuItem }) => ({ default: MenuItem }))),
  Link: lazy(() => load().then(({ MenuLink }) => ({ default: MenuLink }))),
  Separator: lazy(() => load().then(({ MenuSeparator }) => ({ default: MenuSeparator }))),
  // `as`: `lazy` forgets the type parameter. `MenuChoice` below has it.
  Choice: lazy(() => load().then(({ MenuChoice }) => ({ default: MenuChoice as typeof MenuChoice<string> }))),
};

/** A menu. Its trigger is a button, such as `<IconButton label="Actions" icon={…} />`. */
export function Menu(props: MenuProps) {
  const [wantedBy, setWantedBy] = useState<'pointer' | 'keyboard' | null>(null);
  const { trigger } = props;
  const prepare = () => void load();
  const button = cloneElement(trigger, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onPointerEnter: prepare,
    onFocus: prepare,
    // The keyboard also causes a click, whose count of clicks (`detail`) is 0.
    onClick: ({ detail }: MouseEvent) => setWantedBy(detail === 0 ? 'keyboard' : 'pointer'),
  });
  if (wantedBy === null) return button;
  return (
    <Suspense fallback={button}>
      <Parts.Menu {...props} isByKeyboard={wantedBy === 'keyboard'} />
    </Suspense>
  );
}

export function MenuItem(props: MenuItemProps) {
  return <Parts.Item {...props} />;
}

/** An item that is a link, such as `<MenuLink link={<Link to="/account" />}>Account</MenuLink>`. */
export function MenuLink(props: MenuLinkProps) {
  return <Parts.Link {...props} />;
}

export function MenuSeparator() {
  return <Parts.Separator />;
}

/** One choice among a few, inside a menu. */
export function MenuChoice<Value extends string>({ onChange, ...props }: MenuChoiceProps<Value>) {
  // `as`: the values are those of `options`.
  return <Parts.Choice {...props} onChange={(value) => onChange(value as Value)} />;
}
