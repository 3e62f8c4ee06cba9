import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { fastify } from 'fastify';
import { AppError, statusOf } from '../../src/core/errors.ts';
import type { DownloadLimits } from '../../src/http/download-limits.ts';
import { serveFiles } from '../../src/http/files.ts';
import type { DiskFiles } from '../../src/storage/disk-store.ts';

/** Serves only the file route, on a free port of the loopback. Errors are answered with their status and message. */
export async function listenWithFiles(
  files: DiskFiles,
  limits: Partial<DownloadLimits> = {},
): Promise<{ app: FastifyInstance; origin: string }> {
  const app = fastify({ forceCloseConnections: true });
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof AppError ? statusOf[error.code] : 500;
    return reply.code(status).send({ error: error instanceof Error ? error.message : '' });
  });
  await app.register(serveFiles, { files, isDiscarded: async () => false, limits });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo; // It listens on TCP, so this is not the name of a pipe.
  return { app, origin: `http://127.0.0.1:${port}` };
}
