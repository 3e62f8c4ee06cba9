/**
 * Serves `/openapi.json`, the API reference at `/docs` and the guides below `/docs/guides`. All files come from this
 * server. They are prepared for the first request to them, because that takes a second, and memory.
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
  for (const path of ['/openapi.json', '/docs', '/docs/*']) app.get(path, serve);
}
