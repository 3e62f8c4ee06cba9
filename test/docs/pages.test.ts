/** The pages of /docs: they come from this service, and a guide cannot bring scripts. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statusOf } from '../../src/core/errors.ts';
import { diagramPath, diagramThemes, MERMAID_BLOCK } from '../../src/docs/diagrams.ts';
import { resolveLinks } from '../../src/docs/guide-links.ts';
import { readGuides } from '../../src/docs/guides.ts';
import { createLlmsText } from '../../src/docs/llms-text.ts';
import { renderGuide } from '../../src/docs/render-guide.ts';
import type { SearchEntry } from '../../src/docs/search-index.ts';
import { searchTerms } from '../../src/docs/search-terms.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { readPages } from './pages.ts';

const guides = await readGuides();
const urls = guides.pages.map(({ url }) => url);
const markdownUrls = guides.pages.map(({ markdownUrl }) => markdownUrl);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** What a page links to or loads: the values of `href` and `src`. */
function referencesOf(html: string): string[] {
  return [...html.matchAll(/ (?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
}

test('the index names every guide', () => {
  const files = guides.pages.map(({ file }) => file);
  const written = readPages().map(({ path }) => path);
  expect(files).toEqual(expect.arrayContaining(written.filter((path) => path !== 'README.md')));
  expect(new Set(urls).size).toBe(urls.length);
});

describe.each(['/docs', ...urls])('%s', (url) => {
  test('links to what exists, and loads everything from the service', async () => {
    const { status, headers, body } = await app.http.get(url);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy.includes('unsafe-inline')).toBe(url === '/docs');
    expect(body).not.toMatch(/<script>| on\w+=| style=/);
    const own = referencesOf(String(body)).filter((path) => !path.startsWith('http'));
    expect(own.filter((path) => !/^(?:\/docs|\/openapi\.json$|#)/.test(path))).toEqual([]);
    for (const path of new Set(own.filter((one) => one.startsWith('/docs/assets'))))
      expect((await app.http.get(path)).status).toBe(200);
    const pages = own.filter((path) => path.startsWith('/docs/guides')).map((path) => path.split('#')[0]);
    expect(pages.filter((path) => ![...urls, ...markdownUrls].includes(path ?? ''))).toEqual([]);
    const anchors = own.filter((path) => path.startsWith('#')).map((path) => path.slice(1));
    expect(anchors.filter((id) => !String(body).includes(`id="${id}"`))).toEqual([]);
  });
});

test('each diagram is drawn with light and dark colors, and is text too', async () => {
  const wanted = new Set<string>();
  for (const { url, markdown, html } of guides.pages)
    for (const [, source = ''] of markdown.matchAll(MERMAID_BLOCK)) {
      const paths = diagramThemes.map((theme) => diagramPath(source, theme));
      for (const path of paths) wanted.add(path);
      const [light, dark] = paths.map((path) => path.replace(/^docs/, '/docs/assets'));
      expect([url, html], 'Run `npm run diagrams`').toEqual([url, expect.stringContaining(` src="${light}" `)]);
      expect(html).toContain(`<source srcset="${dark}" media="(prefers-color-scheme: dark)">`);
      const { status, headers } = await app.http.get(dark ?? '');
      expect([status, headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';.* sandbox$/);
    }
  const drawn = [...guides.pictures.keys()].filter((path) => path.endsWith('.svg'));
  expect(drawn, 'Run `npm run diagrams`').toEqual([...wanted].sort());
  const overview = guides.pages.find(({ file }) => file === 'docs/overview.md');
  expect(overview?.html).toMatch(
    /<summary>Diagram as text<\/summary><pre data-language="mermaid" [^>]*><code>flowchart/,
  );
});

test('blocks with tabs are one example with radio buttons, and each language is in the page', () => {
  const blocks = ['```sh tab="curl"', 'curl <url>', '```', '', '```python tab="Python"', 'print(1)', '```', '', 'End'];
  const { html } = renderGuide('docs/a.md', `# A\n\n${blocks.join('\n')}\n`, new Map());
  expect(html.match(/<fieldset>/g)).toHaveLength(1);
  expect(html).toContain('<input type="radio" name="example-1" value="curl" checked>curl</label>');
  expect(html).toContain('<div class="tab" data-tab="Python"><pre data-language="python" tabindex="0">');
  expect(html).toMatch(/curl &lt;url&gt;<\/code>[\s\S]*<\/div><\/div>\s*<p>End<\/p>/);
  const rooms = guides.pages.find(({ file }) => file === 'docs/rooms.md')?.html ?? '';
  expect(rooms.match(/data-tab="Python"/g)).toHaveLength(2);
});

test('pictures have a text and a size, are small, and have a dark version', async () => {
  const shown = guides.pages.flatMap(({ url, html }) =>
    [...html.matchAll(/<img src="([^"]+\.jpg)" alt="([^"]*)" width="(\d+)" height="(\d+)"/g)].map((found) => [
      url,
      ...found,
    ]),
  );
  expect(shown.length).toBeGreaterThan(0);
  for (const [url, , path = '', text = '', width, height] of shown) {
    expect([url, path, text.length > 10, Number(width) > 300, Number(height) > 300]).toEqual([
      url,
      path,
      true,
      true,
      true,
    ]);
    const { status, headers } = await app.http.get(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'image/jpeg']);
    expect((await app.http.get(path.replace('.jpg', '-dark.jpg'))).status).toBe(200);
  }
  for (const [path, { bytes }] of guides.pictures) expect([path, bytes.length < 100_000]).toEqual([path, true]);
});

/** The targets of the links of a Markdown text, without those in code. */
function linksOf(markdown: string): string[] {
  const prose = markdown.replaceAll(/^ *```.*?^ *```$/gms, '').replaceAll(/(?<!\[)`[^`]+`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = '']) => href);
}

test('each guide is also Markdown, and its links lead to Markdown', async () => {
  const anchors = new Map(guides.pages.map(({ markdownUrl, headings }) => [markdownUrl, headings.map(({ id }) => id)]));
  for (const { url, markdownUrl, markdown } of guides.pages) {
    const { status, headers, body } = await app.http.get(markdownUrl);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8']);
    expect(body).toBe(markdown);
    expect((await app.http.get(url)).body).toContain(
      `<link rel="alternate" href="${markdownUrl}" type="text/markdown">`,
    );
    const own = linksOf(markdown).filter((href) => !href.startsWith('http') && !['/', '/docs'].includes(href));
    const broken = own.filter((href) => {
      const [path = '', anchor] = href.split('#');
      const ids = anchors.get(path === '' ? markdownUrl : path);
      return ids === undefined || (anchor !== undefined && !ids.includes(anchor));
    });
    expect([markdownUrl, broken]).toEqual([markdownUrl, []]);
  }
});

test('the Markdown of a guide keeps its code, and names what the server does not have without a link', () => {
  const urls = new Map([['docs/rooms.md', '/docs/guides/rooms.md']]);
  const code = '```sh\necho "[a](rooms.md)"\n```\n`[b](rooms.md)`';
  expect(resolveLinks('docs/a.md', code, urls)).toBe(code);
  const prose = '[`c`\nd](rooms.md#join) [e](missing.md) ![f](images/f.jpg) [g](http://127.0.0.1:3000/docs) [h](#i)';
  expect(resolveLinks('docs/a.md', prose, urls)).toBe('[`c`\nd](/docs/guides/rooms.md#join) e f [g](/docs) [h](#i)');
});

test('/llms.txt has the summary of the product, and each guide in its section with a line', async () => {
  const { status, headers, body } = await app.http.get('/llms.txt');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  const text = String(body);
  expect(text).toMatch(/^# Lynxroom\n\n> Lynxroom is a [^\n]+\.\n\n/);
  const sections = text.split(/^## /m).slice(1);
  const links = sections.map((section) =>
    [...section.matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S/gm)].map(([, url = '']) => url.replace(app.url, '')),
  );
  expect(links[0]).toEqual(['/openapi.json', '/openapi-3.0.json', '/docs']);
  expect(links.slice(1)).toEqual(guides.groups.map(({ guides }) => guides.map(({ markdownUrl }) => markdownUrl)));
  expect(text.match(/^- /gm)).toHaveLength(links.flat().length);
  expect(createLlmsText(guides, 'https://rooms.example.com')).toContain(
    '\n- [Rooms and guests](https://rooms.example.com/docs/guides/rooms.md): join links',
  );
});

test('markup in a guide is shown as text, and only known addresses are links', () => {
  const markdown = [
    '# A *title* & more',
    '<script>alert(1)</script> and <b onclick="x()">text</b>',
    '[a](javascript:alert(1)) [b](data:text/html,x) [c](missing.md) [d](rooms.md#join)',
    '[e](https://example.com/?a=1&b=2)',
    '![image](https://example.com/x.png "title")',
    '```"><script>',
    '<img src=x onerror=alert(1)>',
    '```',
    '| <i>a</i> |',
    '|---|',
    '| `<u>` |',
  ].join('\n\n');
  const { html, title } = renderGuide('docs/a.md', markdown, new Map([['docs/rooms.md', '/docs/guides/rooms']]));
  expect(title).toBe('A title & more');
  const tags = [...html.matchAll(/<(\w+)([^>]*)>/g)];
  const allowed = ['h1', 'em', 'p', 'a', 'pre', 'code', 'div', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'span'];
  expect(tags.map(([, name]) => name).filter((name) => !allowed.includes(name ?? ''))).toEqual([]);
  expect(tags.map(([, , attributes]) => attributes).join(' ')).not.toMatch(/\bon\w+=|style=/);
  expect(referencesOf(html)).toEqual(['/docs/guides/rooms#join', 'https://example.com/?a=1&amp;b=2']);
});

test('the guide to errors has every code with its status', () => {
  const rows = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  for (const [code, status] of Object.entries(statusOf)) expect(rows).toContain(`| ${status} | ${code} |`);
});

test('the search index has every section, by its address', async () => {
  const { body } = await app.http.get('/docs/guides/search.json');
  expect(body).toContainEqual(
    expect.objectContaining({
      url: '/docs/guides/rooms#join-as-a-guest',
      page: 'Rooms and guests',
      heading: 'Join as a guest',
    }),
  );
  expect(body.length).toBeGreaterThan(100);
});

/** Reads the search of the guides, as their script does. */
async function startSearch(): Promise<(query: string) => SearchEntry[]> {
  const script: { findEntries(entries: SearchEntry[], words: string[]): SearchEntry[] } = await import(
    new URL('../../docs/site/find-entries.js', import.meta.url).href
  );
  const { body } = await app.http.get('/docs/guides/search.json');
  return (query) => script.findEntries(body, query.split(' '));
}

test.each([
  ['sso', 'sign-in-with-openid'],
  ['saml', 'sign-in-with-openid'],
  ['single sign-on', 'sign-in-with-openid'],
  ['gdpr', 'privacy'],
  ['2fa', 'accounts'],
  ['mfa', 'accounts'],
  ['s3', 'storage'],
  ['webhooks', 'webhooks'],
  ['callbacks', 'webhooks'],
  ['callbacks', 'provider-callbacks'],
  ['provider webhook', 'provider-callbacks'],
  ['video call', 'meeting-page'],
  ['video call', 'meetings'],
  ['websocket', 'live-updates'],
  ['ice', 'turn'],
  ['docker', 'deployment'],
  ['smtp', 'mail'],
  ['idempotency', 'retries'],
  ['calendly', 'bookings'],
  ['llm', 'mcp'],
  ['login', 'authentication'],
])('"%s" finds the guide %s among the first', async (query, name) => {
  const search = await startSearch();
  const first = search(query).slice(0, 4);
  expect(first.map(({ url }) => url)).toContain(`/docs/guides/${name}`);
});

test('each term finds its guide', async () => {
  const search = await startSearch();
  const files = new Map(guides.pages.map(({ file, url }) => [file, url]));
  for (const [file, terms] of Object.entries(searchTerms))
    for (const term of terms) {
      const found = search(term).map(({ url }) => url);
      expect([file, term, found]).toEqual([file, term, expect.arrayContaining([files.get(file)])]);
    }
});

test('a term counts from the beginning of a word, and finds the sections of its guide with another word', async () => {
  const search = await startSearch();
  expect(search('ice').map(({ url }) => url)).not.toContain('/docs/guides/api-keys');
  expect(search('bucket moving').map(({ page, heading }) => [page, heading])).toContainEqual([
    'File storage',
    'Moving files',
  ]);
  expect(search('gdpr zzz')).toEqual([]);
});

test('a path that leads out of the documentation is not found', async () => {
  for (const path of [
    '/docs/nowhere',
    '/docs/assets/docs-app.ts',
    '/docs/assets/%2e%2e/README.md',
    '/docs/guides/..%2f',
  ])
    expect([path, (await app.http.get(path)).status]).toEqual([path, 404]);
});
