/** The texts of mail in the language of its reader. */
import type { WriteText } from '../languages/catalogue.ts';
import { catalogues } from '../languages/catalogues/index.ts';
import { createWriter } from '../languages/format-text.ts';
import type { Language } from '../languages/languages.ts';

/** Mail in English has British dates, which name the month: nobody takes its number for that of the day. */
export function toLocale(language: Language): string {
  return language === 'en' ? 'en-GB' : language;
}

export function createMailWriter(language: Language): WriteText {
  return createWriter({ language, locale: toLocale(language), catalogue: catalogues[language] });
}
