/** A server with the raw operations alone, with the services of a test application and other timeouts. */
import type { AddressInfo } from 'node:net';
import cookie from '@fastify/cookie';
import Fastify from 'fastify';
import { createImportLimiter } from '../../../src/features/contacts/import-limiter.ts';
import { createUploadLock } from '../../../src/features/recordings/upload-lock.ts';
import { handleErrors } from '../../../src/http/errors.ts';
import { serveRawOperations } from '../../../src/http/raw-operations.ts';
import type { StreamTimeouts } from '../../../src/http/streaming-body.ts';
import { rawOperations } from '../../../src/routers/index.ts';
import { createUploadSessions } from '../../../src/storage/upload-sessions.ts';
import type { TestApp } from '../../support/test-app.ts';

export async function startUploadServer(app: TestApp, timeouts: Partial<StreamTimeouts>) {
  // These count per process.
  const services = {
    ...app.services,
    recordingUploads: createUploadLock(),
    uploads: createUploadSessions(),
    contactImports: createImportLimiter(),
  };
  const fastify = Fastify();
  handleErrors(fastify);
  await fastify.register(cookie);
  await fastify.register(async (scope) => serveRawOperations(scope, services, rawOperations, timeouts));
  await fastify.listen({ host: '127.0.0.1', port: 0 });
  const { port } = fastify.server.address() as AddressInfo; // A server that listens on TCP has an AddressInfo.
  return {
    url: `http://127.0.0.1:${port}`,
    server: fastify.server,
    async close() {
      fastify.server.closeAllConnections();
      await fastify.close();
    },
  };
}
