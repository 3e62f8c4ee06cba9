/** `/openapi.json`, and `/docs` to browse and try it: Swagger UI from our own files, nothing is loaded from elsewhere. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { createOpenApiDocument } from './document.ts';

export async function serveDocs(app: FastifyInstance, publicUrl: string | null): Promise<void> {
  serveStartPage(app);
  const document = createOpenApiDocument(publicUrl ?? '/');
  // Serialised once: it never changes while the server runs.
  const json = JSON.stringify(document);
  app.get('/openapi.json', (_request, reply) => reply.type('application/json').send(json));
  await app.register(swagger, { mode: 'static', specification: { document: JSON.parse(json) } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Lynxroom API' },
    uiConfig: { url: '/openapi.json', tryItOutEnabled: true, persistAuthorization: true, deepLinking: true },
  });
}

/** Where a person who opens the bare address wants to be. */
function serveStartPage(app: FastifyInstance): void {
  app.get('/', (_request, reply) => reply.redirect('/docs'));
}
