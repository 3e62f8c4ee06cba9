/** Keys without a modifier, such as those of a meeting and of the palette. */
import { local } from './storage.ts';

/** Presses the button of the page that has it as its `aria-keyshortcuts`: the one that creates what the page lists. */
export const CREATE_KEY = 'c';

const OFF_KEY = 'lynxroom.meeting.shortcuts';

/** People who dictate, or whose hands tremble, switch single keys off (WCAG 2.2, 2.1.4). */
export function areShortcutsOn(): boolean {
  return local.read(OFF_KEY) !== 'off';
}

export function setShortcutsOn(isOn: boolean): void {
  local.write(OFF_KEY, isOn ? null : 'off');
}

/** Whether a pressed key is a shortcut: none with a modifier, none while the person types or a dialog is open. */
export function isSingleKey(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return false;
  return areShortcutsOn() && !isBusy(event.target);
}

function isBusy(target: EventTarget | null): boolean {
  const isTyping = target instanceof Element && target.closest('input, textarea, select, [contenteditable=true]');
  return Boolean(isTyping) || document.querySelector('[role=dialog], [role=alertdialog], [role=menu]') !== null;
}
