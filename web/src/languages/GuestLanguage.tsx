/** Frames a page for guests: it loads the texts of its language, and tells the document which language that is. */
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useState } from 'react';
import type { Texts } from '../../../src/languages/format-text.ts';
import { directionOf, type Language } from '../../../src/languages/languages.ts';
import { type Display, ENGLISH, type SharedKey, setDisplay } from '../lib/display.ts';
import { chooseLanguage, loadTexts, readChoice, storeChoice } from './guest-language.ts';
import { TextsContext } from './texts.ts';

type GuestLanguageProps = {
  /** The language that the workspace has set; null while the page does not know it. */
  ofWorkspace: string | null;
  /** Shown until the texts are there. */
  fallback: ReactNode;
  children: ReactNode;
};

export function GuestLanguage({ ofWorkspace, fallback, children }: GuestLanguageProps) {
  const [chosen, setChosen] = useState(readChoice);
  const wanted = chooseLanguage(chosen, ofWorkspace);
  const [texts, setTexts] = useState<Texts | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const choose = useCallback((language: Language) => {
    storeChoice(language);
    setChosen(language);
  }, []);

  useEffect(() => {
    let isStale = false;
    loadTexts(wanted).then(
      (loaded) => !isStale && setTexts(loaded),
      // Without any texts there is no page. With those of another language, the page stays as it is.
      (error: unknown) => !isStale && setFailure(error),
    );
    return () => {
      isStale = true;
    };
  }, [wanted]);

  useLayoutEffect(() => {
    if (texts === null) return;
    const { documentElement } = document;
    documentElement.lang = texts.language;
    documentElement.dir = directionOf(texts.language);
    setDisplay(toDisplay(texts));
    return () => {
      documentElement.lang = 'en';
      documentElement.removeAttribute('dir');
      setDisplay(ENGLISH);
    };
  }, [texts]);

  const value = useMemo(() => texts && { texts, choose }, [texts, choose]);
  if (value === null) {
    if (failure !== null) throw failure;
    return fallback;
  }
  return <TextsContext value={value}>{children}</TextsContext>;
}

/** What the parts that every page has show. In English, the messages of the service say more than the texts by code. */
function toDisplay({ language, locale, catalogue }: Texts): Display {
  const ofErrors = Object.entries(catalogue).filter(([key]) => key.startsWith('error.'));
  const errors = ofErrors.map(([key, text]) => [key.slice('error.'.length), String(text)] as const);
  return {
    // `as`: no shared text has plural forms.
    texts: catalogue as Record<SharedKey, string>,
    errors: new Map(language === 'en' ? [] : errors),
    locale,
  };
}
