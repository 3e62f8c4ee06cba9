/** The keys of a meeting. They do nothing while the person types, or while a dialog is open. */
import { useEffect, useRef } from 'react';
import { isSingleKey } from '../lib/single-keys.ts';

export type ShortcutKey = 'm' | 'v' | 's' | 'p' | 'c' | 'r' | '?';
export type Shortcuts = Partial<Record<ShortcutKey, () => void>>;

export const SHORTCUT_TEXTS: Record<ShortcutKey, string> = {
  m: 'Mute or unmute',
  v: 'Turn the camera on or off',
  s: 'Share the screen, or stop',
  p: 'Show or hide the people',
  c: 'Show or hide the chat',
  r: 'Record, or stop the recording',
  '?': 'Show this help',
};

export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (!isSingleKey(event)) return;
      const key = event.key.toLowerCase();
      if (!isShortcut(key)) return;
      const run = latest.current[key];
      if (run === undefined) return;
      event.preventDefault();
      run();
    }
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function isShortcut(key: string): key is ShortcutKey {
  return key in SHORTCUT_TEXTS;
}
