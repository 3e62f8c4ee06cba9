/**
 * `/open`: signs the person at this machine in to the demo account with a link that this machine printed. It is served
 * only by a server for development that listens on loopback and has the embedded database.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isLoopback } from '../auth/networks.ts';
import { AppError, badField } from '../core/errors.ts';
import { LOCAL_SIGN_IN, signInLocally } from '../features/auth/local-sign-in.ts';
import { createContext, isDirect } from '../http/context.ts';
import { runBounded } from '../http/request-bounds.ts';
import { renderPage } from '../pages/page-shell.ts';
import { sendPage } from '../pages/serve-pages.ts';
import type { Services } from '../services.ts';
import { callPublicly, toSubject } from '../trpc/access.ts';
import { clientOf, withCookie } from '../trpc/sign-in.ts';

const MAX_BYTES = 1_024;
const OPERATION = { name: 'auth.localSignIn', method: 'POST' } as const;

const page = Buffer.from(
  renderPage({
    title: 'Open Lynxroom',
    script: 'open.js',
    body: `<form id="form">
<p>This signs you in to the demo account of the Lynxroom that runs on this machine.</p>
<button>Open</button>
</form>`,
  }),
);

export function serveLocalSignIn(app: FastifyInstance, services: Services): void {
  app.addContentTypeParser<string>('text/plain', { parseAs: 'string' }, (_request, body, done) => done(null, body));

  app.get(LOCAL_SIGN_IN, async (request, reply) => {
    requireThisMachine(request);
    return sendPage(reply, page);
  });

  // The token is the whole body.
  app.post<{ Body: string | undefined }>(LOCAL_SIGN_IN, { bodyLimit: MAX_BYTES }, async (request, reply) => {
    requireThisMachine(request);
    const { body: token } = request;
    const context = createContext(services, request, reply);
    return runBounded(request, reply, OPERATION, () => {
      if (!token) throw badField('token', 'token is required');
      return callPublicly(context, toSubject('token', token), async () => {
        withCookie(context, await signInLocally(services, token, clientOf(context)));
        return { ok: true };
      });
    });
  });
}

/** Throws 404 unless the request comes directly from a browser on this machine, and no other site has caused it. */
function requireThisMachine(request: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site = 'none' } = request.headers;
  const isOwn = origin === undefined || origin === `${request.protocol}://${request.host}`;
  if (!isOwn || !['none', 'same-origin'].includes(site) || !isDirect(request) || !isLoopback(request.ip))
    throw new AppError('NOT_FOUND', 'Not found');
}
