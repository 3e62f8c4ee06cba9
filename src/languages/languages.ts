/** The languages of guest pages and of mail to guests. docs/languages.md says how to add one. */

export const LANGUAGES = ['en', 'de', 'fr', 'es', 'ar'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Each language in its own words, for people who choose theirs. */
export const languageNames: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  ar: 'العربية',
};

const RIGHT_TO_LEFT: ReadonlySet<Language> = new Set(['ar']);

export function directionOf(language: Language): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(language) ? 'rtl' : 'ltr';
}

/** The language of a tag such as `de-AT` (RFC 5646); null if there are no texts in it. */
export function toLanguage(tag: string): Language | null {
  const [primary = ''] = tag.trim().toLowerCase().split('-');
  return LANGUAGES.find((language) => language === primary) ?? null;
}

/**
 * The first tag for whose language there are texts, with that language; null if there is none. The tag also says which
 * dates and numerals its reader expects: those of `de-AT` are not those of `de-DE`.
 */
export function findLanguage(tags: readonly string[]): { language: Language; tag: string } | null {
  for (const tag of tags) {
    const language = toLanguage(tag);
    if (language !== null) return { language, tag };
  }
  return null;
}

/** The language that an Accept-Language header (RFC 9110, 12.5.4) prefers; null if there are no texts in any of its. */
export function readLanguage(header: string): Language | null {
  const wanted = header.split(',').map((part) => {
    const [tag = '', ...parameters] = part.split(';').map((one) => one.trim());
    const quality = Number(parameters.find((one) => /^q=/i.test(one))?.slice(2) ?? 1);
    return { tag, quality: Number.isNaN(quality) ? 0 : quality };
  });
  const accepted = wanted.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality);
  return findLanguage(accepted.map(({ tag }) => tag))?.language ?? null;
}
