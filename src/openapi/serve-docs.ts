/** Serves `/openapi.json`, and Swagger UI at `/docs`. All of its files come from this server. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { type Api, createOpenApiDocument } from './document.ts';

export async function serveDocs(app: FastifyInstance, api: Api, publicUrl: string | null): Promise<void> {
  serveStartPage(app);
  const document = createOpenApiDocument(api, publicUrl ?? '/');
  // The document does not change while the server runs.
  const json = JSON.stringify(document);
  app.get('/openapi.json', (_request, reply) => reply.type('application/json').send(json));
  await app.register(swagger, { mode: 'static', specification: { document: JSON.parse(json) } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Lynxroom API' },
    uiConfig: { url: '/openapi.json', tryItOutEnabled: true, persistAuthorization: true, deepLinking: true },
  });
}

/** Redirects the bare address to the docs. */
function serveStartPage(app: FastifyInstance): void {
  app.get('/', (_request, reply) => reply.redirect('/docs'));
}
