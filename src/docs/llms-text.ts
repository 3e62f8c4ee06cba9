/** `/llms.txt`, the index of the documentation for language models, in the format of https://llmstxt.org. */
import type { Guides } from './guides.ts';

const OVERVIEW = 'docs/overview.md';

const API = [
  ['OpenAPI document', '/openapi.json', 'every operation with its input, output, errors and examples, as OpenAPI 3.1'],
  ['OpenAPI 3.0 document', '/openapi-3.0.json', 'the same for programs that do not read 3.1'],
  ['API reference', '/docs', 'the same as a page for browsers'],
] as const;

/**
 * Lists the guides by the sections of their index, each with its title, the URL of its Markdown and its line in the
 * index. `origin` precedes the paths; without it, the links have no host.
 */
export function createLlmsText({ pages, groups }: Guides, origin: string): string {
  const overview = pages.find(({ file }) => file === OVERVIEW);
  const paragraph = /^# [^\n]+\n\n(.+?)\n\n/s.exec(overview?.markdown ?? '')?.[1];
  const parts = [
    '# Lynxroom',
    ...(paragraph === undefined ? [] : [`> ${paragraph.replaceAll('\n', ' ')}`]),
    'Each guide can be read on its own. Its commands assume the demo account of a new installation.',
    toSection(
      'API',
      API.map(([title, path, summary]) => ({ title, path, summary })),
    ),
    ...groups
      .filter(({ guides }) => guides.length > 0)
      .map(({ title, guides }) =>
        toSection(
          title,
          guides.map((guide) => ({ title: guide.title, path: guide.markdownUrl, summary: guide.summary })),
        ),
      ),
  ];
  return `${parts.join('\n\n')}\n`;

  function toSection(title: string, links: { title: string; path: string; summary: string }[]): string {
    const lines = links.map((link) => {
      const summary = link.summary === '' ? '' : `: ${link.summary}`;
      return `- [${link.title}](${origin}${link.path})${summary}`;
    });
    return `## ${title}\n\n${lines.join('\n')}`;
  }
}
