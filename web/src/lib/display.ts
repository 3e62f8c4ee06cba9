/**
 * The language of the parts that every page has. It is English, and dates are those of the browser, unless a page for
 * guests shows another language: `languages/GuestLanguage.tsx`.
 */
import { useSyncExternalStore } from 'react';
import { enShared } from '../../../src/languages/catalogues/en-shared.ts';

export type SharedKey = keyof typeof enShared;

export type Display = {
  readonly texts: Readonly<Record<SharedKey, string>>;
  /** What a page says for an error code in place of the English message of the service. */
  readonly errors: ReadonlyMap<string, string>;
  /** The locale of dates and numbers; undefined for that of the browser. */
  readonly locale: string | undefined;
};

export const ENGLISH: Display = { texts: enShared, errors: new Map(), locale: undefined };

const listeners = new Set<() => void>();
let current = ENGLISH;

export function readDisplay(): Display {
  return current;
}

export function setDisplay(next: Display): void {
  current = next;
  for (const listener of listeners) listener();
}

/** The display, for a component that has to be rendered again in another language. */
export function useDisplay(): Display {
  return useSyncExternalStore(subscribe, readDisplay);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
