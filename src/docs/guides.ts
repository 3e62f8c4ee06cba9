/** Reads the guides. `docs/README.md` is their index: its headings and links make up the sidebar. */
import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { ifExists } from '../core/files.ts';
import { resolveLinks } from './guide-links.ts';
import { type Pictures, readPictures } from './pictures.ts';
import { type RenderedGuide, renderGuide } from './render-guide.ts';

export type Guide = RenderedGuide & {
  /** The path in the repository, such as `docs/rooms.md`. */
  file: string;
  url: string;
  /** What the index says about the page: a line of Markdown, or empty. */
  summary: string;
  /** The guide as Markdown, whose links lead to the Markdown of other guides. */
  markdown: string;
  markdownUrl: string;
};

export type GuideGroup = { title: string; guides: Guide[] };

/** `pages` contains the index, and then all guides in the order of the index. */
export type Guides = { pages: Guide[]; groups: GuideGroup[]; pictures: Pictures };

const INDEX = 'docs/README.md';
const root = new URL('../../', import.meta.url);
/** An entry of the index: the path of a guide, and what the guide is about. */
const LINK = /^- \[[^\]]+\]\(([^)#]+\.md)\)(?:: (.+))?$/gm;

/** Omits pages that are not installed: an installation may contain only the server. */
export async function readGuides(): Promise<Guides> {
  const text = (await read(INDEX)) ?? '# Guides\n\nThe guides are not installed on this server.\n';
  const sections = text.split(/^## /m).slice(1);
  const entries = sections.map((section) =>
    [...section.matchAll(LINK)].map(([, path = '', summary = '']) => ({
      file: posix.join(posix.dirname(INDEX), path),
      summary,
    })),
  );
  const texts = new Map<string, string>([[INDEX, text]]);
  for (const { file } of entries.flat()) {
    const found = await read(file);
    if (found !== undefined) texts.set(file, found);
  }
  const urls = new Map([...texts.keys()].map((file) => [file, urlOf(file)]));
  const markdownUrls = new Map([...urls].map(([file, url]) => [file, `${url}.md`]));
  const pictures = await readPictures();
  const toGuide = ({ file, summary }: { file: string; summary: string }): Guide[] => {
    const source = texts.get(file);
    if (source === undefined) return [];
    const url = urlOf(file);
    const markdown = resolveLinks(file, source, markdownUrls);
    return [{ ...renderGuide(file, source, urls, pictures), file, url, summary, markdown, markdownUrl: `${url}.md` }];
  };
  const groups = sections.map((section, index) => ({
    title: section.split('\n', 1)[0] ?? '',
    guides: (entries[index] ?? []).flatMap(toGuide),
  }));
  const pages = [...toGuide({ file: INDEX, summary: '' }), ...groups.flatMap(({ guides }) => guides)];
  return { pages, groups, pictures };
}

function read(file: string): Promise<string | undefined> {
  return ifExists(readFile(new URL(file, root), 'utf8'));
}

/** Maps `docs/rooms.md` to `/docs/guides/rooms`, and `packages/client/README.md` to `/docs/guides/packages-client`. */
function urlOf(file: string): string {
  const name = file
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .replace(/(?:^|\/)README$/, '')
    .replaceAll('/', '-')
    .toLowerCase();
  return name === '' ? '/docs/guides' : `/docs/guides/${name}`;
}
