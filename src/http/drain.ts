import type { FastifyInstance } from 'fastify';

/**
 * Ends each connection with the answer in progress once the server closes. Node closes those that are idle at that
 * moment; the others would stay open, idle, until their keep-alive time is over.
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
