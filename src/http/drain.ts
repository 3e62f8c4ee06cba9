import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { SECOND_MS } from '../core/time.ts';

/** How long a connection on which nothing has come may still send a request when the server closes. */
const FIRST_BYTE_MS = SECOND_MS;

/**
 * When the server closes, this closes each connection after its current response. Node closes only connections that are
 * idle at that moment, and not those without a request yet, which browsers open in advance. All others would stay open
 * until their keep-alive timeout.
 */
export function closeConnectionsWhenDraining(app: FastifyInstance): void {
  let isDraining = false;
  const connections = new Set<Socket>();
  app.server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  app.addHook('preClose', (done) => {
    isDraining = true;
    setTimeout(() => {
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    }, FIRST_BYTE_MS).unref();
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isDraining) reply.header('connection', 'close');
    done();
  });
}
