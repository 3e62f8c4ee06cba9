import type { FastifyInstance } from 'fastify';

/**
 * Once the server is closing, makes each connection close after its current response. Node itself closes only the
 * connections that are idle at that moment. The others would stay open until their keep-alive timeout.
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
