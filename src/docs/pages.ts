/** The HTML of the documentation: the frame around the API reference and around each guide. */
import { escapeHtml } from '../core/escape-html.ts';
import type { Guide, Guides } from './guides.ts';

type Part = 'guides' | 'reference';

/** Returns the page of the API reference. Scalar renders its content. */
export function referencePage(): string {
  return page({
    title: 'API reference',
    part: 'reference',
    menu: false,
    styles: ['frame.css'],
    scripts: ['scalar.js'],
    modules: ['reference.js'],
    // No `main` element, because Scalar adds its own.
    body: '<div id="reference" class="reference"></div>',
  });
}

export function guidePage(guides: Guides, guide: Guide): string {
  const index = guides.pages.indexOf(guide);
  return page({
    title: guide.title,
    part: 'guides',
    menu: true,
    styles: ['frame.css', 'guide.css'],
    scripts: [],
    modules: ['guide.js'],
    markdownUrl: guide.markdownUrl,
    body: `<div class="columns">
<nav id="sidebar" class="sidebar" aria-label="Guides">
<div class="search"><input id="search" type="search" placeholder="Search guides and API" autocomplete="off"
  aria-label="Search guides and API"><kbd>/</kbd></div>
<ul id="results" class="results" aria-live="polite" hidden></ul>
<div id="groups" class="groups">${guides.groups.map((group) => groupOf(group, guide)).join('')}</div>
</nav>
<main>
<article>${guide.html}</article>
<nav class="pager" aria-label="Next and previous guide">
${pagerLink('Previous', guides.pages[index - 1])}${pagerLink('Next', guides.pages[index + 1])}
</nav>
</main>
${contentsOf(guide)}
</div>`,
  });
}

type PageParts = {
  title: string;
  part: Part;
  menu: boolean;
  styles: string[];
  scripts: string[];
  modules: string[];
  body: string;
  /** Where the same page is as Markdown. */
  markdownUrl?: string;
};

function page({ title, part, menu, styles, scripts, modules, body, markdownUrl }: PageParts): string {
  const current = (name: Part): string => (name === part ? ' aria-current="true"' : '');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} - Lynxroom</title>
<link rel="icon" href="/docs/assets/logo.svg" type="image/svg+xml">
${markdownUrl === undefined ? '' : `<link rel="alternate" href="${markdownUrl}" type="text/markdown">\n`}\
${styles.map((name) => `<link rel="stylesheet" href="/docs/assets/${name}">`).join('\n')}
</head>
<body>
<header class="top">
${menu ? '<button id="menu" class="menu" aria-controls="sidebar" aria-expanded="false">Menu</button>\n' : ''}\
<a class="brand" href="/docs/guides"><img src="/docs/assets/logo.svg" alt="" width="24" height="24">Lynxroom</a>
<nav aria-label="Documentation">
<a href="/docs/guides"${current('guides')}>Guides</a>
<a href="/docs"${current('reference')}>API reference</a>
${part === 'reference' ? '<a id="search" href="/docs/guides#search">Search</a>\n' : ''}\
</nav>
${part === 'reference' ? sampleValues : ''}\
</header>
${body}
${scripts.map((name) => `<script src="/docs/assets/${name}"></script>\n`).join('')}\
${modules.map((name) => `<script type="module" src="/docs/assets/${name}"></script>\n`).join('')}\
</body>
</html>
`;
}

/** The values that the samples of the reference have instead of those of the example. */
const sampleValues = `<details class="samples">
<summary>Samples</summary>
<form id="sample-values">
<p>Fill the samples with your own values. They stay in this tab, and are not sent anywhere.</p>
<label>Workspace ID <input name="workspace" inputmode="numeric" pattern="[1-9][0-9]{0,9}" autocomplete="off"></label>
<label>Your API key <input name="key" type="password" pattern="[A-Za-z0-9_\\-]{1,200}" autocomplete="off"></label>
<button>Use them</button>
<p><a href="/openapi.json" download>Download the OpenAPI document</a></p>
</form>
</details>
`;

function groupOf({ title, guides }: Guides['groups'][number], current: Guide): string {
  const links = guides.map(
    (guide) =>
      `<li><a href="${guide.url}"${guide === current ? ' aria-current="page"' : ''}>` +
      `${escapeHtml(guide.title)}</a></li>`,
  );
  return `<h2>${escapeHtml(title)}</h2><ul>${links.join('')}</ul>`;
}

function pagerLink(label: string, guide: Guide | undefined): string {
  if (!guide) return '<span></span>';
  return `<a href="${guide.url}"><span>${label}</span>${escapeHtml(guide.title)}</a>`;
}

function contentsOf({ headings }: Guide): string {
  if (headings.length < 2) return '<aside class="contents"></aside>';
  const links = headings.map(
    ({ level, id, text }) => `<li class="level-${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return `<aside class="contents" aria-label="On this page"><h2>On this page</h2><ul>${links.join('')}</ul></aside>`;
}
