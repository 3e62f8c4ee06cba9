/** Links in guides. They name files of the repository, and lead to pages of this server. */
import { posix } from 'node:path';

/** The origin in the examples of the guides. Links to it become links to the server that serves the guides. */
const EXAMPLE_ORIGIN = 'http://127.0.0.1:3000';

/** Code, in which nothing is a link, or a link or an image. The text of a link can contain code, and can be wrapped. */
const CODE_OR_LINK = /^ *```.*?^ *```$|`[^`]+`|!?\[([^\]]*)\]\(([^)\s]+)\)/gms;

/**
 * Resolves a link of `file`. `urls` maps the path of each guide in the repository to its URL. Returns null if the
 * server does not have the file.
 */
export function resolveLink(file: string, href: string, urls: ReadonlyMap<string, string>): string | null {
  if (href.startsWith(EXAMPLE_ORIGIN)) return href.slice(EXAMPLE_ORIGIN.length);
  if (/^https?:\/\//.test(href) || href.startsWith('#')) return href;
  const [path = '', anchor] = href.split('#');
  const url = urls.get(posix.join(posix.dirname(file), path));
  if (url === undefined) return null;
  return anchor === undefined ? url : `${url}#${anchor}`;
}

/**
 * Returns the Markdown of a guide with the links that `resolveLink` returns. As in the HTML, an image becomes its text,
 * and so does a link to a file that the server does not have.
 */
export function resolveLinks(file: string, markdown: string, urls: ReadonlyMap<string, string>): string {
  return markdown.replaceAll(CODE_OR_LINK, (found: string, text: string | undefined, href = '') => {
    if (text === undefined) return found;
    const url = found.startsWith('!') ? null : resolveLink(file, href, urls);
    return url === null ? text : `[${text}](${url})`;
  });
}
