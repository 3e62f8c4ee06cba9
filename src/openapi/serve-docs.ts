/**
 * Serves `/openapi.json`, and Swagger UI at `/docs`. All of its files come from this server. The document is generated,
 * and Swagger UI loaded, for the first request to them: they take 30 MB of memory and a fifth of the startup time.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DocsApp } from './docs-app.ts';
import type { Api } from './document.ts';

export function serveDocs(app: FastifyInstance, api: Api, publicUrl: string | null): void {
  let loading: Promise<DocsApp> | undefined;
  const load = async (): Promise<DocsApp> => (await import('./docs-app.ts')).createDocsApp(api, publicUrl);
  const serve = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    loading ??= load();
    return (await loading).respond(request, reply);
  };
  // Redirects the bare address to the docs.
  app.get('/', (_request, reply) => reply.redirect('/docs'));
  for (const path of ['/openapi.json', '/docs', '/docs/*']) app.get(path, serve);
}
