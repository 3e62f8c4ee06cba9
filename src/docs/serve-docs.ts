/**
 * Serves `/openapi.json`, `/openapi-3.0.json`, `/llms.txt`, the API reference at `/docs` and the guides below
 * `/docs/guides`. All files come from this server. It prepares them at the first request, because they take a second to
 * prepare and need memory.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '../openapi/document.ts';
import type { DocsApp } from './docs-app.ts';

export function serveDocs(app: FastifyInstance, api: Api, publicUrl: string | null): void {
  let loading: Promise<DocsApp> | undefined;
  const load = async (): Promise<DocsApp> => (await import('./docs-app.ts')).createDocsApp(api, publicUrl);
  const serve = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    // After a failure, the next request tries again.
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return (await loading).respond(request, reply);
  };
  for (const path of ['/openapi.json', '/openapi-3.0.json', '/llms.txt', '/docs', '/docs/*']) app.get(path, serve);
}
