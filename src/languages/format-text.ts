/** Fills in the placeholders of a text, with the numerals and the plural forms of its language. */
import type { Catalogue, TextKey, WriteText } from './catalogue.ts';
import { directionOf, type Language } from './languages.ts';

/** A catalogue, its language, and the locale (BCP 47) of dates and numbers, such as `de-AT`. */
export type Texts = { readonly language: Language; readonly locale: string; readonly catalogue: Catalogue };

/** Between these (U+2068, U+2069), a name in another script keeps its own direction, whatever is around it. */
const ISOLATE = ['\u2068', '\u2069'] as const;

export function createWriter(texts: Texts): WriteText {
  return (key, ...[values]) => formatParts<never>(texts, key, values ?? {}).join('');
}

/**
 * Returns the text in parts, so that a value may be something else than text, such as an element of a page. The value
 * `count` selects the plural form. Throws if a value is missing.
 */
export function formatParts<Part>(
  { language, locale, catalogue }: Texts,
  key: TextKey,
  values: Readonly<Record<string, string | number | Part>>,
): (string | Part)[] {
  const message = catalogue[key];
  const text = typeof message === 'string' ? message : (message[selectForm(language, values.count)] ?? message.other);
  return text.split(/\{(\w+)\}/).map((part, index) => {
    if (index % 2 === 0) return part;
    const value = values[part];
    if (value === undefined) throw new Error(`The text ${key} needs the value ${part}`);
    if (typeof value === 'number') return new Intl.NumberFormat(locale).format(value);
    return typeof value === 'string' ? isolate(language, value) : value;
  });
}

function selectForm(language: Language, count: unknown): Intl.LDMLPluralRule {
  return new Intl.PluralRules(language).select(typeof count === 'number' ? count : 0);
}

/** Only where the text runs from right to left: elsewhere, people also search and compare what they read. */
function isolate(language: Language, value: string): string {
  return directionOf(language) === 'rtl' ? ISOLATE.join(value) : value;
}
