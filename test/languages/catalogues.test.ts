/** The catalogues of texts for guests: each language says everything that English says. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Catalogue, Message, TextKey } from '../../src/languages/catalogue.ts';
import { catalogues } from '../../src/languages/catalogues/index.ts';
import { createWriter, formatParts } from '../../src/languages/format-text.ts';
import { findLanguage, LANGUAGES, type Language, languageNames, readLanguage } from '../../src/languages/languages.ts';

const english: Catalogue = catalogues.en;
// `as`: the keys of the English catalogue are the keys of texts.
const keys = Object.keys(english) as TextKey[];

function formsOf(message: Message): Record<string, string> {
  return typeof message === 'string' ? { other: message } : message;
}

/** Without `count`: a form such as "one person" needs no number. */
function placeholdersOf(text: string): string[] {
  const names = [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return [...new Set(names.filter((name) => name !== 'count'))].sort();
}

function writeIn(language: Language) {
  return createWriter({ language, locale: language, catalogue: catalogues[language] });
}

test.each(LANGUAGES)('%s has every text, with the same placeholders', (language) => {
  const catalogue: Catalogue = catalogues[language];
  expect(Object.keys(catalogue).sort()).toEqual(keys.toSorted());
  for (const key of keys) {
    const expected = placeholdersOf(formsOf(english[key]).other ?? '');
    const { other = '' } = formsOf(catalogue[key]);
    expect([key, other.includes('{count}')]).toEqual([key, formsOf(english[key]).other?.includes('{count}')]);
    for (const text of Object.values(formsOf(catalogue[key]))) {
      expect([key, text.trim() === '']).toEqual([key, false]);
      expect([key, placeholdersOf(text)]).toEqual([key, expected]);
      expect([key, /[{}]/.test(text.replace(/\{\w+\}/g, ''))]).toEqual([key, false]);
    }
  }
});

test.each(LANGUAGES)('%s has the plural forms that its language has', (language) => {
  const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted();
  const catalogue: Catalogue = catalogues[language];
  for (const key of keys) {
    expect([key, typeof catalogue[key]]).toEqual([key, typeof english[key]]);
    const message = catalogue[key];
    if (typeof message !== 'string') expect([key, Object.keys(message).sort()]).toEqual([key, forms]);
  }
});

test.each(LANGUAGES.filter((language) => language !== 'en'))('%s is not English', (language) => {
  const catalogue: Catalogue = catalogues[language];
  const same = keys.filter((key) => JSON.stringify(catalogue[key]) === JSON.stringify(english[key]));
  // Words that languages share, such as "Chat" and "Message". A catalogue that was copied has hundreds.
  expect(same.length).toBeLessThan(10);
});

test('numbers and plural forms are those of the language', () => {
  expect(writeIn('en')('meeting.moreWait', { count: 1 })).toBe('One more person waits');
  expect(writeIn('de')('meeting.moreWait', { count: 1234 })).toBe('1.234 weitere Personen warten');
  expect(writeIn('fr')('meeting.waitingCount', { count: 0 })).toBe('0 personne attend');
  expect(writeIn('ar')('meeting.newCount', { count: 2 })).toBe('رسالتان جديدتان');
  expect(writeIn('ar')('meeting.newCount', { count: 3 })).toMatch(/رسائل/);
});

test('a name keeps its own direction in a text from right to left', () => {
  expect(writeIn('ar')('meeting.you', { name: 'Ada' })).toBe('\u2068Ada\u2069 (أنت)');
  expect(writeIn('de')('meeting.you', { name: 'Ada' })).toBe('Ada (Sie)');
});

test('a value may be a part of a page, and a missing one is an error', () => {
  const texts = { language: 'en', locale: 'en', catalogue: english } as const;
  const link = { href: '/docs' };
  expect(formatParts(texts, 'meeting.wantsToJoin', { name: link })).toEqual(['', link, ' wants to join']);
  expect(() => formatParts(texts, 'meeting.wantsToJoin', {})).toThrow('meeting.wantsToJoin needs the value name');
});

test('the first tag with texts decides', () => {
  expect(findLanguage(['it', 'pt-BR', 'DE-at', 'en'])).toEqual({ language: 'de', tag: 'DE-at' });
  expect(findLanguage(['it', ''])).toBeNull();
  expect(Object.keys(languageNames)).toEqual([...LANGUAGES]);
});

test.each([
  ['de-AT,de;q=0.9,en;q=0.8', 'de'],
  ['it, fr;q=0.2, es;q=0.7', 'es'],
  ['ar;q=0, en;q=none, fr;q=0.1', 'fr'],
  ['*', null],
  ['', null],
  [';q=1,,', null],
])('the header Accept-Language %j prefers %j', (header, language) => {
  expect(readLanguage(header)).toBe(language);
});

test.each(['invitation.js', 'language.js'])('%s writes texts that there are', (name) => {
  const script = readFileSync(new URL(`../../web/pages/${name}`, import.meta.url), 'utf8');
  const used = [...script.matchAll(/'((?:error|invitation|page)\.\w+)'/g)].map(([, key]) => key);
  expect(used).not.toEqual([]);
  expect(used.filter((key) => !keys.some((one) => one === key))).toEqual([]);
});
