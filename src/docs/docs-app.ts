/**
 * The files of the documentation: the OpenAPI document (as 3.1 and as 3.0), the API reference, the guides (as HTML and
 * as Markdown) with their pictures and `/llms.txt`, and the scripts and styles of these pages.
 */
import { readFile } from 'node:fs/promises';
import scalar from '@scalar/fastify-api-reference';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';
import { type Api, createOpenApiDocument } from '../openapi/document.ts';
import { readOpenApi30 } from '../openapi/openapi-30.ts';
import { readGuides } from './guides.ts';
import { createLlmsText } from './llms-text.ts';
import { guidePage, referencePage } from './pages.ts';
import { createSearchIndex } from './search-index.ts';

export type DocsApp = {
  /** Responds to a request for a file of the documentation. Throws NOT_FOUND. */
  respond(request: FastifyRequest, reply: FastifyReply): FastifyReply;
};

/** `body` is the same Buffer for every request, so that the service compresses and hashes it only once. */
type File = { type: string; body: Buffer; policy?: string };

const types = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  jpg: 'image/jpeg',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
} as const;

const ASSETS = ['frame.css', 'guide.css', 'guide.js', 'find-entries.js', 'reference.js', 'logo.svg'] as const;

const DRAWING_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

export async function createDocsApp(api: Api, publicUrl: string | null): Promise<DocsApp> {
  const files = new Map<string, File>();
  const add = (path: string, extension: keyof typeof types, body: string | Buffer, policy?: string): void => {
    files.set(path, { type: types[extension], body: Buffer.from(body), ...(policy && { policy }) });
  };
  const document = createOpenApiDocument(api, publicUrl ?? '/');
  add('/openapi.json', 'json', JSON.stringify(document));
  add('/openapi-3.0.json', 'json', JSON.stringify(await readOpenApi30(document)));
  add('/docs', 'html', referencePage(), referencePolicy(publicUrl));
  add('/docs/assets/scalar.js', 'js', await readScalar());
  for (const name of ASSETS) {
    // `as`: the names above have only these extensions.
    const extension = name.split('.')[1] as 'css' | 'js' | 'svg';
    add(`/docs/assets/${name}`, extension, await readFile(new URL(`../../docs/site/${name}`, import.meta.url)));
  }
  const guides = await readGuides();
  for (const guide of guides.pages) {
    add(guide.url, 'html', guidePage(guides, guide));
    add(guide.markdownUrl, 'md', guide.markdown);
  }
  for (const { url, bytes } of guides.pictures.values()) {
    if (!guides.pages.some(({ html }) => html.includes(`"${url}"`))) continue;
    // A drawing has styles of its own. As an image, it cannot load or run anything.
    const isDrawing = url.endsWith('.svg');
    add(url, isDrawing ? 'svg' : 'jpg', bytes, isDrawing ? DRAWING_POLICY : undefined);
  }
  add('/llms.txt', 'txt', createLlmsText(guides, publicUrl ?? ''));
  add('/docs/guides/search.json', 'json', JSON.stringify(createSearchIndex(guides.pages, document)));
  return {
    respond(request, reply) {
      const [path = ''] = request.url.split('?');
      const file = files.get(path.length > 1 ? path.replace(/\/$/, '') : path);
      if (!file) throw new AppError('NOT_FOUND', 'Not found');
      if (file.policy) reply.header('content-security-policy', file.policy);
      return reply.type(file.type).send(file.body);
    },
  };
}

/**
 * The content security policy of the API reference. Its editor uses inline styles. Its calls go to `publicUrl`, the
 * server that the OpenAPI document names.
 */
function referencePolicy(publicUrl: string | null): string {
  const origin = publicUrl === null ? '' : ` ${new URL(publicUrl).origin}`;
  return (
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; font-src 'self' data:; " +
    `img-src 'self' data: blob:; media-src 'self' blob:; connect-src 'self'${origin}; script-src 'self'; ` +
    "style-src 'self' 'unsafe-inline'"
  );
}

/**
 * Reads Scalar's script from its Fastify plugin, the only package that contains the script without a hundred
 * dependencies.
 */
async function readScalar(): Promise<Buffer> {
  const app = Fastify();
  await app.register(scalar, { routePrefix: '/', configuration: { url: '/openapi.json' } });
  const { rawPayload } = await app.inject('/js/scalar.js');
  await app.close();
  return rawPayload;
}
