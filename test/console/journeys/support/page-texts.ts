/** All texts of a page: what it shows, and what it says to screen readers. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { catalogues } from '../../../../src/languages/catalogues/index.ts';
import { languageNames } from '../../../../src/languages/languages.ts';

const READ = `(() => {
  const texts = [document.title];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.currentNode; node !== null; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) {
      if (node.parentElement.closest('script, style, noscript') === null) texts.push(node.data);
    } else
      for (const name of ['aria-label', 'aria-description', 'title', 'placeholder', 'alt'])
        texts.push(node.getAttribute(name) ?? '');
  }
  return texts.map((text) => text.trim()).filter((text) => text !== '');
})()`;

/** What has the same letters in every language. */
const NAMES = ['Lynxroom', 'IP', 'HTTPS', ...Object.values(languageNames)];

export async function readPageTexts(page: Page): Promise<string[]> {
  // `as`: what the expression returns.
  return (await page.evaluate(READ)) as string[];
}

/** Expects that a page in Arabic says nothing in English. `given` are the words that people have written. */
export async function expectNoEnglish(page: Page, given: readonly string[]): Promise<void> {
  const texts = await readPageTexts(page);
  const english = new Set<string>(Object.values(catalogues.en).flatMap((message) => Object.values(toForms(message))));
  expect(texts.filter((text) => english.has(text))).toEqual([]);
  const withoutNames = texts.map((text) =>
    [...given, ...NAMES].reduce((rest, name) => rest.replaceAll(name, ''), text),
  );
  expect(texts.filter((_text, index) => /[a-z]{2}/i.test(withoutNames[index] ?? ''))).toEqual([]);
}

function toForms(message: string | Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return typeof message === 'string' ? { other: message } : message;
}
