/**
 * Builds the HTTP application: mounts every transport on one Fastify instance. It does not listen on a port or read the
 * environment.
 */
import { randomUUID } from 'node:crypto';
import cookie from '@fastify/cookie';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { readConsole } from '../console/read-console.ts';
import { type ConsoleServer, serveConsole } from '../console/serve-console.ts';
import { isTracing } from '../core/tracing.ts';
import { serveDocs } from '../docs/serve-docs.ts';
import { admitBodies, type BodyBounds, defaultBodyBounds } from '../http/body-admission.ts';
import { limitBodyTime } from '../http/body-timeouts.ts';
import { createRequestClass } from '../http/bounded-request.ts';
import { refuseMalformedRequest, trackResponses } from '../http/client-errors.ts';
import { compressResponses } from '../http/compression.ts';
import { answerConditionalReads } from '../http/conditional-reads.ts';
import { type ConnectionLimits, limitConnections } from '../http/connection-limits.ts';
import { closeConnectionsWhenDraining } from '../http/drain.ts';
import { handleErrors, refuseOtherMethods, sendError } from '../http/errors.ts';
import { isStreaming } from '../http/event-stream.ts';
import { serveFiles } from '../http/files.ts';
import { serveHealth } from '../http/health.ts';
import { refuseWrongHosts } from '../http/host.ts';
import { type CallObserver, observeRequests } from '../http/observe-calls.ts';
import { serveRawOperations } from '../http/raw-operations.ts';
import { type CorsOrigins, setResponseHeaders } from '../http/response-headers.ts';
import { serveRest } from '../http/rest.ts';
import { traceRequests } from '../http/trace-requests.ts';
import { serveTrpc } from '../http/trpc.ts';
import { closeUnreadBodies } from '../http/unread-bodies.ts';
import { serveMcp } from '../mcp/serve-mcp.ts';
import { serveOauth } from '../oauth/serve-oauth.ts';

import { serveMailPage } from '../pages/mail-page.ts';
import { servePages } from '../pages/serve-pages.ts';
import { serveWellKnown } from '../pages/well-known.ts';
import { appRouter, rawOperations } from '../routers/index.ts';
import type { Services } from '../services.ts';
import { isDiscarded } from '../storage/discarded-objects.ts';
import type { DiskFiles } from '../storage/disk-store.ts';
import { createFrames } from './frames.ts';
import { createLinkPreviews } from './link-previews.ts';
import { serveLocalSignIn } from './local-sign-in-page.ts';

export type AppOptions = {
  services: Services;
  logger: FastifyBaseLogger;
  /** The disk store's files, served under `/files`; absent if downloads come from S3. */
  files?: DiskFiles | undefined;
  /** Addresses and networks of the proxies whose X-Forwarded-* headers are trusted; `false` for none. */
  trustProxy: false | string[];
  /** Origins whose pages may read responses. */
  corsOrigins: CorsOrigins;
  /** Limits the connections of each network. Default: no limit. */
  connections?: Omit<ConnectionLimits, 'proxies'> | undefined;
  /** Invoked after each API call. */
  onCall?: CallObserver | undefined;
  /**
   * The directory of the built console; absent if the console is not served. This option has no effect if the console
   * has not been built.
   */
  consoleDir?: string | undefined;
  /** Replaces bounds on the bodies that this process reads into memory. */
  bodyBounds?: Partial<BodyBounds> | undefined;
  /** The origins of downloads that are served by a different server. */
  storageOrigins?: readonly string[] | undefined;
  /** Whether developers can read the mail that would have been sent. Default: no. */
  showsMail?: boolean;
  /** Whether a link that this machine printed signs in to the demo account. Default: no. */
  signsInLocally?: boolean;
  /** Whether to reject requests whose host name does not belong to this machine. Default: no. */
  refuseForeignHosts?: boolean;
};

/** The maximum length of a path parameter. The path of a tRPC batch contains the names of all its calls. */
const MAX_PARAMETER = 5_000;

export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { services, corsOrigins } = options;
  const app = Fastify({
    loggerInstance: options.logger,
    // The hook below writes one line for each request. The line has the route instead of the URL, which may contain a
    // token or a signature.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    trustProxy: options.trustProxy,
    routerOptions: { maxParamLength: MAX_PARAMETER, ignoreTrailingSlash: true },
    http: {
      IncomingMessage: createRequestClass((error, socket) => refuseMalformedRequest(error, socket, options.logger)),
    },
    clientErrorHandler(error, socket) {
      refuseMalformedRequest(error, socket, options.logger);
    },
    forceCloseConnections: 'idle',
    frameworkErrors: sendError,
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
  });

  trackResponses(app.server);
  if (options.connections) limitConnections(app.server, { ...options.connections, proxies: options.trustProxy || [] });
  app.decorateRequest('bounds', null);
  if (isTracing) traceRequests(app);
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions, ip } = request;
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    // A stream is logged when it ends.
    if (isStreaming(request)) return done();
    request.log.info({ method, route: routeOptions.url ?? null, status: reply.statusCode, ms, ip }, 'request');
    done();
  });

  if (options.onCall) observeRequests(app, options.onCall);

  closeConnectionsWhenDraining(app);
  app.addHook('preClose', async () => services.live.endAll());
  let consoleServer: ConsoleServer | undefined;
  handleErrors(app, (request, reply) => consoleServer?.answer(request, reply) ?? null);
  const addOtherMethods = refuseOtherMethods(app);
  refuseWrongHosts(app, options.refuseForeignHosts ?? false);
  // Routes that read bodies add their own parsers.
  app.removeAllContentTypeParsers();
  admitBodies(app, { ...defaultBodyBounds, ...options.bodyBounds });
  limitBodyTime(app);
  setResponseHeaders(app, corsOrigins);
  answerConditionalReads(app);
  compressResponses(app);
  closeUnreadBodies(app);
  await app.register(cookie);

  serveHealth(app, services);
  await app.register(async (scope) => serveRest(scope, services, appRouter));
  await app.register(async (scope) => serveRawOperations(scope, services, rawOperations));
  await app.register(async (scope) => serveTrpc(scope, services, appRouter, options.onCall));
  await app.register(async (scope) => serveMcp(scope, services, { router: appRouter, rawOperations }));
  await app.register(async (scope) => serveOauth(scope, services));
  if (options.files)
    await app.register(serveFiles, { files: options.files, isDiscarded: (key) => isDiscarded(services.db, key) });
  serveDocs(app, { router: appRouter, rawOperations }, services.settings.publicUrl);
  servePages(app);
  const builtConsole = options.consoleDir === undefined ? null : await readConsole(options.consoleDir);
  if (builtConsole !== null)
    consoleServer = serveConsole(app, builtConsole, options.storageOrigins ?? [], {
      previews: createLinkPreviews(services),
      frames: createFrames(services),
    });
  // Clients other than browsers are redirected to the API reference, as they were before there was a console.
  app.get('/', (request, reply) => consoleServer?.answer(request, reply) ?? reply.redirect('/docs'));
  serveWellKnown(app, services);
  if (options.showsMail) serveMailPage(app, services);
  if (options.signsInLocally) await app.register(async (scope) => serveLocalSignIn(scope, services));
  await app.register(async () => addOtherMethods());
  return app;
}

/** Replaces Fastify's validator and serializer, which take 50 ms to load. Neither is needed, because zod validates. */
function refuseSchema(): never {
  throw new Error('A route has a JSON schema: use zod');
}
