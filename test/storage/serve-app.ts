import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { fastify } from 'fastify';
import { AppError, statusOf } from '../../src/core/errors.ts';
import { serveFiles } from '../../src/http/files.ts';
import type { DiskFiles } from '../../src/storage/disk-store.ts';

/** The file route alone, listening on a free port of the loopback, with errors rendered as their status and message. */
export async function listenWithFiles(files: DiskFiles): Promise<{ app: FastifyInstance; origin: string }> {
  const app = fastify({ forceCloseConnections: true });
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof AppError ? statusOf[error.code] : 500;
    return reply.code(status).send({ error: error instanceof Error ? error.message : '' });
  });
  await app.register(serveFiles, { files });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo; // It listens on TCP, so this is no pipe name.
  return { app, origin: `http://127.0.0.1:${port}` };
}
