/** The upload's route on its own, with the services of a test application and a patience of the test's choosing. */
import type { AddressInfo } from 'node:net';
import cookie from '@fastify/cookie';
import Fastify from 'fastify';
import { answerErrors } from '../../../src/http/errors.ts';
import { defaultTimeouts, type StreamTimeouts } from '../../../src/http/streaming-body.ts';
import { serveUpload } from '../../../src/http/upload.ts';
import type { TestApp } from '../../support/test-app.ts';

export async function openDoor(app: TestApp, timeouts: Partial<StreamTimeouts>) {
  const door = Fastify();
  answerErrors(door);
  await door.register(cookie);
  await door.register(async (scope) => serveUpload(scope, app.services, { ...defaultTimeouts, ...timeouts }));
  await door.listen({ host: '127.0.0.1', port: 0 });
  const { port } = door.server.address() as AddressInfo; // It listens on TCP, so this is no pipe name.
  return {
    url: `http://127.0.0.1:${port}`,
    server: door.server,
    async close() {
      door.server.closeAllConnections();
      await door.close();
    },
  };
}
