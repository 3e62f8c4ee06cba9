/**
 * Serves the small pages to which links in mail lead. Each has a fixed path and a script of this service, which reads
 * the token from the fragment and calls the REST operation.
 */
import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { pageHeaders } from '../http/response-headers.ts';
import { catalogues } from '../languages/catalogues/index.ts';
import { LANGUAGES } from '../languages/languages.ts';
import { renderPage } from './page-shell.ts';
import { pages } from './pages.ts';

const types = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' } as const;

/** The texts that small pages show are those of these parts of the catalogues. */
const TEXTS_OF_PAGES = /^(?:error|invitation|page)\./;

/** Other sites must not show these pages in a frame, because they could trick people into pressing a button. */
const policy = pageHeaders['content-security-policy'].replace("frame-ancestors 'self'", "frame-ancestors 'none'");

export function servePages(app: FastifyInstance): void {
  const assets = new Set(['page.css', 'page.js', 'language.js', 'open.js']);
  for (const [path, page] of Object.entries(pages)) {
    // Always the same Buffer, so that it is compressed only once.
    const html = Buffer.from(renderPage(page));
    if (page.script !== null) assets.add(page.script);
    app.get(path, (_request, reply) => sendPage(reply, html));
  }
  for (const name of assets) {
    const file = readFileSync(new URL(`../../web/pages/${name}`, import.meta.url));
    const type = name.endsWith('.css') ? types.css : types.js;
    app.get(`/pages/${name}`, (_request, reply) => reply.headers(pageHeaders).type(type).send(file));
  }
  for (const language of LANGUAGES) {
    const texts = Object.entries(catalogues[language]).filter(([key]) => TEXTS_OF_PAGES.test(key));
    const json = Buffer.from(JSON.stringify(Object.fromEntries(texts)));
    app.get(`/pages/texts-${language}.json`, (_request, reply) =>
      reply.headers(pageHeaders).type('application/json; charset=utf-8').send(json),
    );
  }
}

/** Sends the HTML of `renderPage`, with the headers of a page. */
export function sendPage(reply: FastifyReply, html: string | Buffer): FastifyReply {
  return reply
    .headers({ ...pageHeaders, 'content-security-policy': policy, 'x-frame-options': 'DENY' })
    .type('text/html; charset=utf-8')
    .send(html);
}
