import { escapeHtml } from '../core/escape-html.ts';

/** A small page of the service. Links in mail lead to such pages. */
export type Page = {
  /** The title, which is also the heading. */
  title: string;
  /** HTML of the content below the heading. Escape values with `escapeHtml`. */
  body: string;
  /** A file of `web/pages/`, which is loaded as a module; null for a page without a script. */
  script: string | null;
};

/**
 * Returns the HTML of a page: a heading, the content, and a region for messages (`#status`), which screen readers read
 * out. Its policy allows no inline scripts or styles. Without JavaScript, a page with a script says that JavaScript is
 * required.
 */
export function renderPage({ title, body, script }: Page): string {
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
<header><img src="/docs/assets/logo.svg" alt="" width="24" height="24">Lynxroom</header>
<main>
<h1>${escapeHtml(title)}</h1>
${script === null ? '' : '<noscript><p class="error">This page needs JavaScript.</p></noscript>\n'}${body}
<p id="status" role="status"></p>
</main>
</body>
</html>
`;
}
