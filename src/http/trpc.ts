/**
 * The tRPC transport: the protocol of tRPC's `httpLink` and `httpBatchLink` at `/trpc`. A query is a GET; a mutation is
 * a POST. With `?batch=1`, the path contains the names of several procedures, separated by commas. The input and the
 * response then have one entry per procedure.
 */
import type { AnyTRPCRouter } from '@trpc/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type BatchBounds, createBatchBounds } from '../core/batch-bounds.ts';
import { AppError, badField, badRequest } from '../core/errors.ts';
import { headersOf, httpStatusOf } from '../core/problem.ts';
import { SECOND_MS } from '../core/time.ts';
import { withSpan } from '../core/tracing.ts';
import type { Services } from '../services.ts';
import { MAX_BATCH_BYTES } from '../trpc/body-limits.ts';
import { listProcedures, type Procedure } from '../trpc/call-procedure.ts';
import type { Context } from '../trpc/context.ts';
import { fromUnexpected, toTrpcShape } from '../trpc/errors.ts';
import type { RawInput } from '../trpc/raw-input.ts';
import { bodyLimitOf, hasBody } from './body-admission.ts';
import { createContext } from './context.ts';
import { logFailure } from './log-failure.ts';
import { type CallObserver, observeCallsOf } from './observe-calls.ts';
import { admitCalls, bodyLimitOfCalls, leaveBodiesUnparsed } from './trpc-bodies.ts';
import { readInputs } from './trpc-inputs.ts';
import { serveSubscription } from './trpc-subscription.ts';

/** The maximum number of calls in one batch. */
const MAX_BATCH = 50;

type Call = { name: string; procedure: Procedure | undefined; input: RawInput };

type Route = { Params: { names: string }; Body: Buffer | undefined };

/** The entry for a call in the response. */
type Answer = { body: object; failure: AppError | null };

/**
 * Serves the procedures of `router`. Calls `observe` after each call, with `/trpc/` and the name of the procedure as
 * the route.
 */
export function serveTrpc(
  app: FastifyInstance,
  services: Services,
  router: AnyTRPCRouter,
  observe?: CallObserver,
): void {
  const procedures = listProcedures(router);
  const calledBy = ({ params }: FastifyRequest<Route>): Procedure[] =>
    params.names.split(',').flatMap((name) => procedures.get(name) ?? []);
  leaveBodiesUnparsed(app);
  app.addHook<Route>('onRequest', (request, reply, done) => {
    const refusal = findRefusal(request);
    if (refusal !== undefined || !hasBody(request)) return done(refusal);
    admitCalls(services, calledBy(request), request, reply).then(() => done(), done);
  });
  // As in tRPC's own adapters, a HEAD request only shows that the service is up.
  app.head('/trpc/:names', async (_request, reply) => reply.status(204).send());
  app.route<Route>({
    method: ['GET', 'POST'],
    url: '/trpc/:names',
    exposeHeadRoute: false,
    bodyLimit: MAX_BATCH_BYTES,
    // `as`: the request of this route.
    config: { bodyLimitOf: (request) => bodyLimitOfCalls(calledBy(request as FastifyRequest<Route>)) },
    async handler(request, reply) {
      const { calls, isBatch } = readCalls(request, procedures);
      const context = createContext(services, request, reply);
      const subscription = findSubscription(calls);
      if (subscription && request.method === 'GET' && !isBatch)
        return serveSubscription(services, subscription, context, request, reply);
      if (hasMixedTypes(calls)) {
        const refusal = badRequest('Cannot mix procedure types in call: query, mutation');
        return sendAnswers([toAnswer(refusal, context)], false, request, reply);
      }
      const bounds = calls.length > 1 ? createBatchBounds() : null;
      const run = (call: Call) => answer(call, context, request, reply, bounds);
      const answers = await Promise.all(calls.map(observe ? (call) => runObserved(call, run, request, observe) : run));
      return sendAnswers(answers, isBatch, request, reply);
    },
  });
}

/** Returns the error of a request that must be rejected before its body is read, or undefined. */
function findRefusal({ method, headers, params }: FastifyRequest<Route>): AppError | undefined {
  // The response has one status and one set of headers, so it cannot be sent before all calls have ended.
  if (headers['trpc-accept'] !== undefined || headers.accept?.includes('application/jsonl'))
    return new AppError('BAD_REQUEST', 'Streamed batches are not supported: use httpBatchLink');
  const type = headers['content-type'] ?? (method === 'POST' ? '' : 'application/json');
  if (!/^application\/json\b/i.test(type))
    return new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content type must be application/json');
  const count = params.names.split(',').length;
  if (count > MAX_BATCH) return badRequest(`A batch has at most ${MAX_BATCH} calls`);
  if (count > 1 && method === 'POST' && headers['idempotency-key'] !== undefined)
    return badField('Idempotency-Key', 'A batch of several calls cannot have an Idempotency-Key: send them one by one');
  return undefined;
}

function readCalls(
  request: FastifyRequest<Route>,
  procedures: ReadonlyMap<string, Procedure>,
): { calls: Call[]; isBatch: boolean } {
  const { method, url, params, body } = request;
  const query = readQuery(url);
  const isBatch = query.get('batch') === '1';
  const json = method === 'GET' ? Buffer.from(query.get('input') ?? '') : (body ?? Buffer.alloc(0));
  // The inputs are dropped once they have been validated, so nothing else may refer to them.
  request.body = undefined;
  const names = isBatch ? params.names.split(',') : [params.names];
  const inputOf = readInputs({ json, maxBytes: bodyLimitOf(request), isBatch, calls: names.length });
  const calls = names.map((name, index) => ({ name, procedure: procedures.get(name), input: inputOf(index) }));
  return { calls, isBatch };
}

/**
 * Reads the query string as browsers do. Fastify's own parser makes a list of repeated parameters, and does not decode
 * malformed escapes.
 */
function readQuery(url: string): URLSearchParams {
  const [, query = ''] = /^[^?#]*\?([^#]*)/.exec(url) ?? [];
  return new URLSearchParams(query);
}

function findSubscription(calls: readonly Call[]): (Call & { procedure: Procedure }) | undefined {
  return calls.flatMap(({ procedure, ...call }) => (procedure?.isSubscription ? [{ ...call, procedure }] : []))[0];
}

function hasMixedTypes(calls: readonly Call[]): boolean {
  return new Set(calls.flatMap(({ procedure }) => procedure?.isQuery ?? [])).size > 1;
}

async function answer(
  { name, procedure, input }: Call,
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  bounds: BatchBounds | null,
): Promise<Answer> {
  try {
    if (procedure === undefined) throw new AppError('NOT_FOUND', 'Not found');
    const { isQuery, isSubscription, headers } = procedure;
    if (headers !== null) reply.headers(headers);
    if (isSubscription && request.method === 'GET') throw badRequest('A subscription cannot be part of a batch');
    const isGet = isQuery || isSubscription;
    if (isGet !== (request.method === 'GET')) {
      reply.header('allow', isGet ? 'GET' : 'POST');
      throw new AppError('METHOD_NOT_ALLOWED', 'Method not allowed');
    }
    const run = (): Promise<unknown> => withSpan(name, {}, () => procedure.call(context, input));
    return { body: { result: { data: await (bounds?.run(isQuery, run) ?? run()) } }, failure: null };
  } catch (error) {
    return toAnswer(error instanceof AppError ? error : fromUnexpected(error), context, name);
  }
}

async function runObserved(
  call: Call,
  run: (call: Call) => Promise<Answer>,
  request: FastifyRequest,
  observe: CallObserver,
): Promise<Answer> {
  observeCallsOf(request);
  const startedAt = performance.now();
  const answered = await run(call);
  const { failure } = answered;
  observe({
    method: request.method,
    // An unknown name does not become a route, because callers can invent any number of names.
    route: `/trpc/${call.procedure === undefined ? ':names' : call.name}`,
    status: failure === null ? 200 : httpStatusOf(failure),
    seconds: (performance.now() - startedAt) / SECOND_MS,
  });
  return answered;
}

function toAnswer(failure: AppError, { requestId }: Context, name?: string): Answer {
  return { body: { error: toTrpcShape(failure, name, requestId) }, failure };
}

/** Sends the response. Its status is 207 if the statuses of the calls differ. */
function sendAnswers(
  answers: readonly Answer[],
  isBatch: boolean,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const [status = 200, ...others] = new Set(
    answers.map(({ failure }) => (failure === null ? 200 : httpStatusOf(failure))),
  );
  const failures = answers.flatMap(({ failure }) => failure ?? []);
  for (const failure of failures) logFailure(request.log, failure);
  // The response has the longest `Retry-After` of all its calls.
  failures.sort((a, b) => (a.retryAfterSeconds ?? 0) - (b.retryAfterSeconds ?? 0));
  for (const failure of failures) reply.headers(headersOf(failure));
  const bodies = answers.map(({ body }) => body);
  return reply.status(others.length > 0 ? 207 : status).send(isBatch ? bodies : bodies[0]);
}
