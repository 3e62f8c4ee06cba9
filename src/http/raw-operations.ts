/** Serves the raw operations that routers declare. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Identity } from '../auth/identify.ts';
import { hashToken } from '../auth/tokens.ts';
import { type CallBounds, currentCall } from '../core/call-bounds.ts';
import { AppError, badField } from '../core/errors.ts';
import { idFromText } from '../core/requested-id.ts';
import { parseInput } from '../core/validation.ts';
import type { LiveStream } from '../live-updates/stream-message.ts';
import type { Services } from '../services.ts';
import { attachmentDisposition } from '../storage/content-disposition.ts';
import { countMiss } from '../trpc/access.ts';
import { type KeyOwner, ownerOfCaller } from '../trpc/idempotency.ts';
import { readFields } from '../trpc/operations.ts';
import {
  type BodyOf,
  fileTypes,
  type RawCall,
  type RawOperation,
  type RawRequest,
  type RawResponse,
  takesIdempotencyKeys,
} from '../trpc/raw-operation.ts';
import { beginExport } from './begin-export.ts';
import { createContext, readCredential } from './context.ts';
import { csvTooLarge, openCsvBody } from './csv-body.ts';
import { plainFormat, sendEventStream, streamHeaders } from './event-stream.ts';
import { toFastifyPath } from './fastify-path.ts';
import { handleOnce } from './handle-once.ts';
import { openMultipartBody } from './multipart.ts';
import { readQuery } from './parse-text.ts';
import { keepContext, runBounded } from './request-bounds.ts';
import {
  defaultTimeouts,
  leaveBodiesUnread,
  type OpenBody,
  openByteStream,
  type StreamTimeouts,
} from './streaming-body.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the operation itself limits how long its body may take to arrive. */
    boundsOwnBody?: boolean;
  }
}

/** An authorized call. The `onRequest` hook passes it to the handler. */
type Admitted = { call: RawCall; caller: unknown; bounds: CallBounds; findOwner(): KeyOwner };

/** Registers each operation in its own plugin context, because content type parsers belong to a context. */
export async function serveRawOperations(
  app: FastifyInstance,
  services: Services,
  operations: readonly RawOperation[],
  timeouts: Partial<StreamTimeouts> = {},
): Promise<void> {
  for (const operation of operations)
    await app.register(async (scope) => serveRawOperation(scope, services, operation, timeouts));
}

function serveRawOperation(
  scope: FastifyInstance,
  services: Services,
  operation: RawOperation,
  overrides: Partial<StreamTimeouts>,
): void {
  const { request: content, access } = operation;
  const timeouts = {
    ...defaultTimeouts,
    ...(content.kind === 'csv' && { totalMs: content.maxDurationMs }),
    ...overrides,
  };
  if (content.kind === 'bytes') readBodiesWhole(scope);
  else leaveBodiesUnread(scope, timeouts);
  const admitted = new WeakMap<FastifyRequest, Admitted>();

  const takesKeys = takesIdempotencyKeys(operation);
  const { query: querySchema = null } = operation;
  const queryFields = querySchema && readFields([querySchema]);

  const handle = async ({ call, caller, findOwner }: Admitted, request: FastifyRequest, reply: FastifyReply) => {
    const query = querySchema && queryFields ? parseInput(querySchema, readQuery(request.query, queryFields)) : null;
    // A stream would never end.
    if (operation.response.kind === 'events' && request.method === 'HEAD') return reply.headers(streamHeaders).send();
    const open = openBody(content, request, services, timeouts);
    try {
      const { headers, params, context } = call;
      const { idempotencyKey: key, origin } = context;
      const { setHeader } = context;
      const run = (body: BodyOf<RawRequest>) =>
        operation.handle({ services, caller, headers, params, body, origin, query, setHeader });
      const result =
        key === null || !takesKeys
          ? await run(open.body)
          : await handleOnce(operation, call, { key, owner: findOwner(), body: open.body }, async (body) => run(body));
      if (operation.response.kind === 'events')
        // `as`: an operation of this kind returns a stream.
        return sendEventStream(request, reply, services, result as LiveStream, plainFormat(request.id));
      // `as`: only files are read part by part.
      const whole =
        Symbol.asyncIterator in result
          ? await beginExport(services, result as AsyncIterable<Buffer>, () => reply.raw.destroy())
          : result;
      return sendResult(operation.response, whole, reply);
    } catch (error) {
      const reason = open.fail(error);
      // The signature of a callback covers its body, so a wrong signature is detected only here.
      if (isUnauthorized(reason)) countMiss(call.context);
      throw reason;
    } finally {
      open.close();
    }
  };

  scope.route({
    method: operation.method,
    url: toFastifyPath(operation.path),
    ...(content.kind === 'bytes' && { bodyLimit: content.maxBytes }),
    config: { boundsOwnBody: content.kind !== 'bytes' },
    // Checks access before the body is read, so that nobody uploads 100 MB only to receive a 403.
    async onRequest(request, reply) {
      const { call, findOwner } = toRawCall(services, operation, request, reply);
      await runBounded(request, reply, operation, async (bounds) => {
        admitted.set(request, { call, caller: await access.admit(call), bounds, findOwner });
      });
      requireContentType(content, request);
    },
    async handler(request, reply) {
      const found = admitted.get(request);
      if (found === undefined) throw new Error(`${operation.name} was called without its onRequest hook`);
      return currentCall.run(found.bounds, () => handle(found, request, reply));
    },
  });
}

/** Reads bodies of any content type into a Buffer. */
function readBodiesWhole(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

/**
 * Creates a call. `findOwner` returns the owner of its idempotency key. `findOwner` may only be called after the call
 * has been admitted.
 */
function toRawCall(
  services: Services,
  { name, method }: RawOperation,
  request: FastifyRequest,
  reply: FastifyReply,
): { call: RawCall; findOwner(): KeyOwner } {
  const context = createContext(services, request, reply);
  const { identify } = context;
  let identity: Identity | null = null;
  context.identify = async (workspaceId) => {
    identity = await identify(workspaceId);
    return identity;
  };
  // Fastify's router passes every path parameter as a string.
  const params = request.params as Record<string, string>;
  const { token } = readCredential(request);
  const findOwner = (): KeyOwner => {
    const caller = identity?.caller;
    if (caller) return ownerOfCaller(caller, idFromText(params.id));
    // The upload token of a recording.
    const hash = Buffer.from(hashToken(token ?? '')).toString('base64url');
    return { caller: `recorder:${hash}`, userId: null, workspaceId: null };
  };
  // Fastify's query parser returns an object.
  const query = request.query as Record<string, unknown>;
  const { headers } = request;
  const call = { context, operation: { name, isRead: method === 'GET' }, token, params, query, headers };
  return { call, findOwner };
}

/**
 * For a wrong content type, throws 400 in a multipart operation and 415 in a CSV operation. Throws 413 if the CSV is
 * too large.
 */
function requireContentType(content: RawRequest, { headers }: FastifyRequest): void {
  const { 'content-type': type = '', 'content-length': length } = headers;
  if (content.kind === 'multipart' && !/^multipart\/form-data *;/i.test(type))
    throw badField('file', 'File is required');
  if (content.kind === 'csv') {
    if (!/^text\/csv *(?:;|$)/i.test(type))
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content type must be text/csv');
    if (Number(length) > content.maxBytes) throw csvTooLarge(content.maxBytes);
  }
  if (content.kind === 'stream' && type !== content.contentType)
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', `Content type must be ${content.contentType}`);
  // Fastify responds with 415 to a malformed type, even if any type is accepted.
  if (content.kind === 'bytes') delete headers['content-type'];
}

function openBody(
  content: RawRequest,
  request: FastifyRequest,
  { settings }: Services,
  timeouts: StreamTimeouts,
): OpenBody<BodyOf<RawRequest>> {
  switch (content.kind) {
    case 'multipart':
      return openMultipartBody(request.raw, { ...timeouts, maxBytes: content.maxFileBytes(settings) });
    case 'csv':
      return openCsvBody(request.raw, { ...timeouts, maxBytes: content.maxBytes });
    case 'bytes':
      // `readBodiesWhole` reads every body as a Buffer.
      return { body: (request.body as Buffer | undefined) ?? Buffer.alloc(0), fail: (error) => error, close() {} };
    case 'stream':
      return openByteStream(request.raw, timeouts);
    case 'none':
      return { body: undefined, fail: (error) => error, close() {} };
  }
}

function sendResult(response: RawResponse, result: object | AsyncIterable<Buffer>, reply: FastifyReply): FastifyReply {
  if (response.kind === 'json' || response.kind === 'events' || response.kind === 'image') return reply.send(result);
  // `as`: the result of such an operation is its headers.
  if (response.kind === 'empty')
    return reply
      .status(response.status)
      .headers(result as Record<string, string>)
      .send();
  return reply
    .header('content-type', `${fileTypes[response.kind]}; charset=utf-8`)
    .header('content-disposition', attachmentDisposition(response.filename))
    .send(Symbol.asyncIterator in result ? Readable.from(keepContext(result)) : result);
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof AppError && error.code === 'UNAUTHORIZED';
}
