/** Decides about the body of a tRPC request before it is read. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../services.ts';
import { requireCaller, requireCallsLeft } from '../trpc/access.ts';
import { MAX_BATCH_BYTES, MAX_PUBLIC_BYTES } from '../trpc/body-limits.ts';
import type { Procedure } from '../trpc/call-procedure.ts';
import { announcedLength, bodyLimitOf, bodyTooLarge } from './body-admission.ts';
import { createContext, hasCredential } from './context.ts';
import { runBounded } from './request-bounds.ts';

/** The procedures that a request calls. Unknown names are skipped. */
type Called = readonly Procedure[];

/** Returns how large the body may be: the sum of the limits of all calls, but at most MAX_BATCH_BYTES. */
export function bodyLimitOfCalls(called: Called): number {
  const sum = called.reduce((bytes, { body }) => bytes + body.maxBytes, 0);
  return Math.min(Math.max(sum, MAX_PUBLIC_BYTES), MAX_BATCH_BYTES);
}

/**
 * Throws 429 if the network of the caller has no calls left, and 401 if the body is large and the caller unknown.
 * Procedures check the caller of a smaller body when they have parsed it, because it names the workspace.
 */
export async function admitCalls(
  services: Services,
  called: Called,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const context = createContext(services, request, reply);
  requireCallsLeft(
    context,
    called.map(({ body }) => body),
    hasCredential(request),
  );
  const isSmall = (announcedLength(request) ?? MAX_BATCH_BYTES) <= MAX_PUBLIC_BYTES;
  if (isSmall || called.every(({ body }) => body.credential !== 'required')) return;
  const operation = { name: 'trpc', method: request.method };
  const identity = await runBounded(request, reply, operation, () => context.identify(null));
  if (identity.caller === null) requireCaller(context, identity);
}

/** Leaves bodies unparsed, because procedures without input ignore them. */
export function leaveBodiesUnparsed(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) =>
    // The length of a chunked body is known only now.
    done(body.length > bodyLimitOf(request) ? bodyTooLarge() : null, body),
  );
}
