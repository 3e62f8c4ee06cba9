/** The application that serves the OpenAPI document and Swagger UI. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';
import { type Api, createOpenApiDocument } from './document.ts';

export type DocsApp = {
  /** Responds to a request for the document or for a file of Swagger UI. Throws NOT_FOUND. */
  respond(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
};

/** Headers that depend on the file. The service sets all others itself. */
const FILE_HEADERS = ['content-type', 'cache-control', 'etag', 'last-modified', 'location'] as const;

export async function createDocsApp(api: Api, publicUrl: string | null): Promise<DocsApp> {
  const app = Fastify();
  // The document does not change while the server runs.
  const json = JSON.stringify(createOpenApiDocument(api, publicUrl ?? '/'));
  // Always the same Buffer, so that the service compresses and hashes it only once.
  const document = Buffer.from(json);
  await app.register(swagger, { mode: 'static', specification: { document: JSON.parse(json) } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Lynxroom API' },
    uiConfig: { url: '/openapi.json', tryItOutEnabled: true, persistAuthorization: true, deepLinking: true },
  });
  await app.ready();
  return {
    async respond({ url, headers }, reply) {
      // `inject` would resolve the `..` of a path that leads out of the docs.
      const [pathname] = url.split('?');
      if (URL.parse(url, 'http://localhost')?.pathname !== pathname) throw notFound();
      if (pathname === '/openapi.json') return reply.type('application/json; charset=utf-8').send(document);
      // Always GET: Fastify leaves the body out of the response to a HEAD request.
      const { statusCode, headers: found, rawPayload } = await app.inject({ method: 'GET', url, headers });
      if (statusCode >= 400) throw notFound();
      for (const name of FILE_HEADERS) if (found[name] !== undefined) reply.header(name, found[name]);
      return reply.code(statusCode).send(rawPayload);
    },
  };
}

function notFound(): AppError {
  return new AppError('NOT_FOUND', 'Not found');
}
