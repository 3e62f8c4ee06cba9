/** The keys of a meeting. They do nothing while the person types, or while a dialog is open. */
import { useEffect, useRef } from 'react';
import { local } from '../lib/storage.ts';

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

const OFF_KEY = 'lynxroom.meeting.shortcuts';

/** People who dictate, or whose hands tremble, switch single keys off (WCAG 2.2, 2.1.4). */
export function areShortcutsOn(): boolean {
  return local.read(OFF_KEY) !== 'off';
}

export function setShortcutsOn(isOn: boolean): void {
  local.write(OFF_KEY, isOn ? null : 'off');
}

export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
      if (!areShortcutsOn() || isBusy(event.target)) return;
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

function isBusy(target: EventTarget | null): boolean {
  const isTyping = target instanceof Element && target.closest('input, textarea, select, [contenteditable=true]');
  return Boolean(isTyping) || document.querySelector('[role=dialog], [role=alertdialog], [role=menu]') !== null;
}
