import type { FastifyInstance } from 'fastify';

/**
 * When the server closes, this closes each connection after its current response. Node closes only connections that are
 * idle at that moment. All others would stay open until their keep-alive timeout.
 */
export function closeConnectionsWhenDraining(app: FastifyInstance): void {
  let isDraining = false;
  app.addHook('preClose', (done) => {
    isDraining = true;
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isDraining) reply.header('connection', 'close');
    done();
  });
}
