import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { TextKey, TextOf, ValuesOf, WriteText } from '../../../src/languages/catalogue.ts';
import { createWriter, formatParts, type Texts } from '../../../src/languages/format-text.ts';
import type { Language } from '../../../src/languages/languages.ts';

export type GuestTexts = {
  language: Language;
  /** The locale of dates and numbers. */
  locale: string;
  /** Changes the language, and keeps it as the guest's choice. */
  choose: (language: Language) => void;
  /** Writes a text in the language of the page. */
  write: WriteText;
  /** The same, with elements as values. */
  writeWith: <Key extends TextKey>(key: Key, values: ValuesOf<Key, ReactNode>) => ReactNode[];
  /** Writes what a part without a language has to say. */
  writeTextOf: (text: TextOf) => string;
};

export const TextsContext = createContext<(Pick<GuestTexts, 'choose'> & { texts: Texts }) | null>(null);

/** The texts of a page that `GuestLanguage` frames. */
export function useTexts(): GuestTexts {
  const context = useContext(TextsContext);
  if (context === null) throw new Error('useTexts is called outside of GuestLanguage');
  const { texts, choose } = context;
  return useMemo(
    () => ({
      language: texts.language,
      locale: texts.locale,
      choose,
      write: createWriter(texts),
      writeWith: (key, values) => formatParts<ReactNode>(texts, key, values),
      writeTextOf: ({ key, values }) => formatParts<never>(texts, key, values).join(''),
    }),
    [texts, choose],
  );
}
