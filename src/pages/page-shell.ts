import { escapeHtml } from '../core/escape-html.ts';
import type { TextKey } from '../languages/catalogue.ts';
import { directionOf, LANGUAGES, languageNames } from '../languages/languages.ts';

/** A small page of the service. Links in mail lead to such pages. */
export type Page = {
  /** The title, which is also the heading. */
  title: string;
  /** The text of the title, if the page is for guests. Its script writes it, and all other texts, in their language. */
  titleText?: TextKey;
  /** HTML of the content below the heading. Escape values with `escapeHtml`. */
  body: string;
  /** A file of `web/pages/`, which is loaded as a module; null for a page without a script. */
  script: string | null;
};

/** The languages, each in its own words. Without a choice, no option is selected. */
const picker = `<select id="language" ${textAttribute('page.language', 'label')}>${LANGUAGES.map(
  (one) => `<option value="${one}" lang="${one}" data-dir="${directionOf(one)}">${languageNames[one]}</option>`,
).join('')}</select>`;

/** Marks an element whose content, or label for screen readers, `web/pages/language.js` writes. */
export function textAttribute(key: TextKey, of: 'text' | 'label' = 'text'): string {
  return `data-${of}="${key}"`;
}

/**
 * Returns the HTML of a page: a heading, the content, and a region for messages (`#status`), which screen readers read
 * out. Its policy allows no inline scripts or styles. Without JavaScript, a page with a script says that JavaScript is
 * required.
 */
export function renderPage({ title, titleText, body, script }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} - Lynxroom</title>
<link rel="icon" href="/docs/assets/logo.svg" type="image/svg+xml">
<link rel="stylesheet" href="/pages/page.css">
${script === null ? '' : `<script type="module" src="/pages/${script}"></script>\n`}</head>
<body>
<header><img src="/docs/assets/logo.svg" alt="" width="24" height="24">Lynxroom${titleText ? picker : ''}</header>
<main>
<h1${titleText ? ` ${textAttribute(titleText)}` : ''}>${escapeHtml(title)}</h1>
${script === null ? '' : '<noscript><p class="error">This page needs JavaScript.</p></noscript>\n'}${body}
<p id="status" role="status"></p>
</main>
</body>
</html>
`;
}
