/** Light or dark: as the system says, or as the user chose in this browser. `public/theme.js` sets it at first. */
import { useSyncExternalStore } from 'react';
import { isEmbedded } from './embedded.ts';
import { local } from './storage.ts';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'lynxroom.theme';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, readTheme);
}

export function setTheme(theme: Theme): void {
  local.write(KEY, theme === 'system' ? null : theme);
  applyTheme();
  for (const listener of listeners) listener();
}

export function followSystemTheme(): void {
  applyTheme();
  prefersDark.addEventListener('change', applyTheme);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function readTheme(): Theme {
  const stored = isEmbedded ? new URLSearchParams(location.search).get('theme') : local.read(KEY);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

function applyTheme(): void {
  const theme = readTheme();
  document.documentElement.classList.toggle('dark', theme === 'dark' || (theme === 'system' && prefersDark.matches));
}
