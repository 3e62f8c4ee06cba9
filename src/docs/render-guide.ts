/** Renders a guide as HTML. HTML in the Markdown is shown as text, so a guide cannot contain scripts or styles. */
import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { escapeHtml } from '../core/escape-html.ts';
import { diagramPath } from './diagrams.ts';
import { resolveLink } from './guide-links.ts';
import { highlight } from './highlight.ts';
import { findDarkPicture, type Pictures } from './pictures.ts';
import { createTabs } from './tabs.ts';

export type Heading = { level: number; id: string; text: string };

export type RenderedGuide = {
  title: string;
  html: string;
  /** The headings below the title, for the table of contents. */
  headings: Heading[];
  /**
   * The text of each section without markup, for the search. The first section is the introduction, and its id is
   * empty.
   */
  sections: { id: string; heading: string; text: string }[];
};

/**
 * `urls` maps the path of each guide in the repository to its URL. `file` is the path of this guide. A picture that is
 * not in `pictures` becomes its text.
 */
export function renderGuide(
  file: string,
  markdown: string,
  urls: ReadonlyMap<string, string>,
  pictures: Pictures = new Map(),
): RenderedGuide {
  const headings: Heading[] = [];
  const marked = new Marked({
    gfm: true,
    extensions: [createTabs(renderCode)],
    renderer: {
      html: ({ text }) => escapeHtml(text),
      image: ({ href, text }) => toPicture(pictures, posix.join(posix.dirname(file), href), text) ?? escapeHtml(text),
      code: (token) => (token.lang === 'mermaid' ? renderDiagram(pictures, token) : null) ?? renderCode(token),
      table(token) {
        // On a phone, a wide table scrolls, and the page around it does not.
        const cells = (row: Tokens.TableCell[], tag: string): string =>
          `<tr>${row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
        const body = token.rows.map((row) => cells(row, 'td')).join('');
        const head = cells(token.header, 'th');
        return `<div class="table" tabindex="0"><table><thead>${head}</thead><tbody>${body}</tbody></table></div>`;
      },
      heading({ tokens, depth, text }) {
        const id = toAnchor(text);
        if (depth > 1) headings.push({ level: depth, id, text: toPlainText(text) });
        const content = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${content}</h1>`;
        return `<h${depth} id="${id}"><a href="#${id}">${content}</a></h${depth}>`;
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens);
        const url = resolveLink(file, href, urls);
        return url === null ? content : `<a href="${escapeHtml(url)}">${content}</a>`;
      },
    },
  });
  // `as`: without asynchronous extensions, the result is a string.
  const html = marked.parse(markdown) as string;
  const title = toPlainText(/^# (.+)$/m.exec(markdown)?.[1] ?? file);
  return { title, html, headings, sections: readSections(markdown) };
}

function renderCode({ text, lang = '' }: Tokens.Code): string {
  const [language = ''] = lang.split(' ');
  const label = language === '' ? '' : ` data-language="${escapeHtml(language)}"`;
  return `<pre${label} tabindex="0"><code>${highlight(text, language)}</code></pre>\n`;
}

/** The drawing, which scrolls on a phone, and the source as its text. Returns null if it has not been drawn. */
function renderDiagram(pictures: Pictures, token: Tokens.Code): string | null {
  const picture = toPicture(pictures, diagramPath(token.text, 'light'), 'Diagram, whose text follows');
  if (picture === null) return null;
  return (
    `<div class="diagram"><div class="drawing" tabindex="0">${picture}</div>` +
    `<details><summary>Diagram as text</summary>${renderCode(token)}</details></div>\n`
  );
}

function toPicture(pictures: Pictures, path: string, text: string): string | null {
  const picture = pictures.get(path);
  if (picture === undefined) return null;
  const dark = findDarkPicture(pictures, path);
  const source = dark ? `<source srcset="${dark.url}" media="(prefers-color-scheme: dark)">` : '';
  const size = `width="${picture.width}" height="${picture.height}"`;
  return `<picture>${source}<img src="${picture.url}" alt="${escapeHtml(text)}" ${size} loading="lazy"></picture>`;
}

/** Returns the anchor that GitHub gives a heading. */
function toAnchor(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function toPlainText(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*|]/g, '');
}

function readSections(markdown: string): RenderedGuide['sections'] {
  const withoutCode = markdown.replaceAll(/^ *```.*?^ *```$/gms, '');
  return withoutCode.split(/^#{2,} /m).map((section, index) => {
    const [first = '', ...rest] = section.split('\n');
    const heading = index === 0 ? '' : toPlainText(first);
    const text = toPlainText((index === 0 ? section.replace(/^# .*$/m, '') : rest.join(' ')).replaceAll(/\s+/g, ' '));
    return { id: index === 0 ? '' : toAnchor(first), heading, text: text.replaceAll(/ ?-{3,} ?/g, ' ').trim() };
  });
}
