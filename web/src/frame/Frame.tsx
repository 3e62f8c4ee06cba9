import { useLocation } from '@tanstack/react-router';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { Button, IconButton } from '../components/Button.tsx';
import { CREATE_KEY, isSingleKey } from '../lib/single-keys.ts';
import { IdentityDialog } from './IdentityDialog.tsx';
import { Logo } from './Logo.tsx';
import { OfflineBanner } from './OfflineBanner.tsx';
import { UserMenu } from './UserMenu.tsx';
import { WorkspaceSwitcher } from './WorkspaceSwitcher.tsx';

// Loaded when they are opened for the first time.
const Drawer = lazy(() => import('./Drawer.tsx').then((module) => ({ default: module.Drawer })));
const KeysDialog = lazy(() =>
  import('../components/KeysDialog.tsx').then((module) => ({ default: module.KeysDialog })),
);
const Palette = lazy(() => import('./Palette.tsx').then((module) => ({ default: module.Palette })));

const commandKey = isMac() ? '⌘K' : 'Ctrl K';
const keys = {
  '/': 'Go to …',
  [commandKey]: 'Go to …, also while you type',
  [CREATE_KEY]: 'Create, on a page that has a button for it',
  '?': 'Show these keys',
};

/** The frame of all pages for signed-in users: side navigation, workspace switcher, user menu and command palette. */
export function Frame({ navigation, children }: { navigation: ReactNode; children: ReactNode }) {
  const [opened, setOpened] = useKeys();
  const openPalette = (): void => setOpened('palette');
  const close = (): void => setOpened(null);
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[16rem_1fr] print:block print:min-h-0">
      <a
        href="#content"
        className="absolute top-2 left-2 z-50 -translate-y-20 rounded-lg bg-accent px-4 py-2 text-on-accent focus:translate-y-0 print:hidden"
      >
        Skip to the content
      </a>
      {/* It scrolls on a low screen, without a second scroll bar beside that of the page. */}
      <aside className="sticky top-0 hidden h-dvh flex-col gap-4 overflow-y-auto border-r border-line bg-panel p-4 [scrollbar-width:none] lg:flex print:hidden">
        <Side navigation={navigation} onSearch={openPalette} />
      </aside>
      <header className="sticky top-0 z-20 flex h-14 items-center justify-between border-b border-line bg-panel px-3 lg:hidden print:hidden">
        <DrawerButton navigation={navigation} onSearch={openPalette} />
        <Logo />
        <UserMenu />
      </header>
      {/* The target of the link above. */}
      <main
        id="content"
        tabIndex={-1}
        className="mx-auto w-full max-w-6xl min-w-0 px-4 py-6 outline-none sm:px-8 lg:py-8"
      >
        {children}
      </main>
      <IdentityDialog />
      <OfflineBanner />
      <Suspense>
        {opened === 'palette' && <Palette onClose={close} />}
        {opened === 'keys' && <KeysDialog keys={keys} onClose={close} />}
      </Suspense>
    </div>
  );
}

function Side({ navigation, onSearch }: { navigation: ReactNode; onSearch: () => void }) {
  return (
    <>
      <div className="flex items-center justify-between">
        <Logo />
        <span className="hidden lg:inline">
          <UserMenu />
        </span>
      </div>
      <WorkspaceSwitcher />
      <Button onClick={onSearch} icon={<Search aria-hidden size={16} />} className="justify-start">
        Go to … <kbd className="ml-auto text-sm text-muted">{commandKey}</kbd>
      </Button>
      {navigation}
    </>
  );
}

/** The button that opens the side navigation on a narrow screen. */
function DrawerButton({ navigation, onSearch }: { navigation: ReactNode; onSearch: () => void }) {
  const [isOpen, setIsOpen] = useState(false);
  const { href } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: going to another page closes it.
  useEffect(() => setIsOpen(false), [href]);
  return (
    <>
      <IconButton label="Menu" icon={<MenuIcon aria-hidden size={20} />} onClick={() => setIsOpen(true)} />
      {isOpen && (
        <Suspense>
          <Drawer onClose={() => setIsOpen(false)}>
            <Side
              navigation={navigation}
              onSearch={() => {
                setIsOpen(false);
                onSearch();
              }}
            />
          </Drawer>
        </Suspense>
      )}
    </>
  );
}

type Opened = 'palette' | 'keys' | null;

/** What is open: Ctrl-K or Cmd-K opens and closes the palette, `/` opens it, `c` creates, and `?` opens the list of keys. */
function useKeys(): [Opened, (opened: Opened) => void] {
  const [opened, setOpened] = useState<Opened>(null);
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      const isCommand = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
      if (isCommand && event.key.toLowerCase() === 'k')
        setOpened((before) => (before === 'palette' ? null : 'palette'));
      else if (event.key === '/' && isSingleKey(event)) setOpened('palette');
      else if (event.key === '?' && isSingleKey(event)) setOpened('keys');
      else if (event.key === CREATE_KEY && isSingleKey(event)) pressCreate();
      else return;
      event.preventDefault();
    }
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return [opened, setOpened];
}

function pressCreate(): void {
  document.querySelector<HTMLElement>(`[aria-keyshortcuts=${CREATE_KEY}]`)?.click();
}

function isMac(): boolean {
  return /mac|iphone|ipad/i.test(navigator.userAgent);
}
