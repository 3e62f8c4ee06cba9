/** The keys of a meeting. They do nothing while the person types, or while a dialog is open. */
import { useEffect, useRef } from 'react';
import type { TextKey } from '../../../src/languages/catalogue.ts';
import { isSingleKey } from '../lib/single-keys.ts';

export type ShortcutKey = 'm' | 'v' | 's' | 'p' | 'c' | 'r' | '?';
export type Shortcuts = Partial<Record<ShortcutKey, () => void>>;

export const SHORTCUT_TEXTS = {
  m: 'key.microphone',
  v: 'key.camera',
  s: 'key.screen',
  p: 'key.people',
  c: 'key.chat',
  r: 'key.record',
  '?': 'key.help',
} as const satisfies Record<ShortcutKey, TextKey>;

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
