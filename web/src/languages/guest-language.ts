/** The language in which a page for guests speaks: the guest's choice, else the browser's, else the workspace's. */
import type { Catalogue } from '../../../src/languages/catalogue.ts';
import type { Texts } from '../../../src/languages/format-text.ts';
import { findLanguage, type Language, toLanguage } from '../../../src/languages/languages.ts';
import { ENGLISH } from '../lib/display.ts';
import { local } from '../lib/storage.ts';

const KEY = 'lynxroom.language';

/** Each language is a file of its own, which is loaded if a page speaks it. */
const files: Readonly<Record<Language, () => Promise<Catalogue>>> = {
  en: async () => ({ ...ENGLISH.texts, ...(await import('../../../src/languages/catalogues/en.ts')).en }),
  de: async () => (await import('../../../src/languages/catalogues/de.ts')).de,
  fr: async () => (await import('../../../src/languages/catalogues/fr.ts')).fr,
  es: async () => (await import('../../../src/languages/catalogues/es.ts')).es,
  ar: async () => (await import('../../../src/languages/catalogues/ar.ts')).ar,
};

export function readChoice(): Language | null {
  return toLanguage(local.read(KEY) ?? '');
}

export function storeChoice(language: Language): void {
  local.write(KEY, language);
}

/** `ofWorkspace` is what the workspace has set, if the page knows it already. */
export function chooseLanguage(chosen: Language | null, ofWorkspace: string | null): Language {
  const ofBrowser = findLanguage(navigator.languages)?.language;
  return chosen ?? ofBrowser ?? toLanguage(ofWorkspace ?? '') ?? 'en';
}

export async function loadTexts(language: Language): Promise<Texts> {
  return { language, locale: toLocale(language), catalogue: await files[language]() };
}

/** The browser's own locale of the language, such as `en-GB`: it says how the guest is used to dates and numerals. */
function toLocale(language: Language): string {
  return navigator.languages.find((tag) => toLanguage(tag) === language) ?? language;
}
