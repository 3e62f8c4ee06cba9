/**
 * The REST transport: every procedure with `meta.openapi` becomes a Fastify route. The route combines path, query and
 * body into the input, calls the procedure, and sends its output. The procedure checks access and validates the input.
 */
import type { AnyTRPCRouter } from '@trpc/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Identity } from '../auth/identify.ts';
import { type AppError, badField } from '../core/errors.ts';
import { idFromText } from '../core/requested-id.ts';
import type { Services } from '../services.ts';
import { requireCaller, requireCallsLeft } from '../trpc/access.ts';
import { listProcedures } from '../trpc/call-procedure.ts';
import { listOperations, type Operation } from '../trpc/operations.ts';
import { rawInputOf } from '../trpc/raw-input.ts';
import { hasBody } from './body-admission.ts';
import { createContext, hasCredential, identifyRequest, readParticipantToken } from './context.ts';
import { toFastifyPath } from './fastify-path.ts';
import { parseJsonBodies, refuseOtherBodies, UnreadableBody } from './json-body.ts';
import { isRecord, parseText, readQuery } from './parse-text.ts';
import { runBounded } from './request-bounds.ts';
import { sendOutput } from './send-output.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller of a REST operation that requires a credential. */
    identity: Identity | null;
  }
}

/** Registers every operation of `router` on `app`. */
export function serveRest(app: FastifyInstance, services: Services, router: AnyTRPCRouter): void {
  const procedures = listProcedures(router);
  app.decorateRequest('identity', null);
  parseJsonBodies(app);
  refuseOtherBodies(app);
  for (const operation of listOperations(router)) {
    const procedure = procedures.get(operation.name);
    if (procedure === undefined) continue;
    const { headers, body } = procedure;
    app.route({
      method: operation.method,
      url: toFastifyPath(operation.path),
      bodyLimit: body.maxBytes,
      // Unknown callers are rejected before their body is read. The procedure reuses the identity that this hook finds.
      async onRequest(request, reply) {
        if (headers !== null) reply.headers(headers);
        if (body.credential !== 'required') {
          if (hasBody(request))
            requireCallsLeft(createContext(services, request, reply), [body], hasCredential(request));
          return;
        }
        if (body.takesPassHolders && readParticipantToken(request) !== null) return;
        const identity = await runBounded(request, reply, operation, () =>
          identifyRequest(services, request, readWorkspaceId(request)),
        );
        request.identity = identity;
        if (identity.caller === null) requireCaller(createContext(services, request, reply), identity);
      },
      async handler(request, reply) {
        const { identity } = request;
        const context = createContext(services, request, reply, {
          ...(identity !== null && { identity }),
          unreadableBody: findUnreadableBody(operation, request.body),
        });
        const input = rawInputOf(joinInput(operation, request));
        // The input is dropped once it has been validated, so nothing else may refer to it.
        request.body = undefined;
        const output = await procedure.call(context, input);
        return sendOutput(operation, output, request, reply);
      },
    });
  }
}

/** Returns the workspace id in the path, or null if the path has none that is an integer. */
function readWorkspaceId({ params }: FastifyRequest): number | null {
  if (!isRecord(params)) return null;
  const text = params.workspaceId ?? params.id;
  return typeof text === 'string' ? idFromText(text) : null;
}

function findUnreadableBody(operation: Operation, body: unknown): AppError | null {
  if (!operation.takesBody || body === undefined) return null;
  if (body instanceof UnreadableBody) return body.error;
  return isRecord(body) ? null : badField('', 'Request body must be a JSON object');
}

/** Path parameters take precedence over fields of the query or body, so that a body cannot name another workspace. */
function joinInput(operation: Operation, request: FastifyRequest): Record<string, unknown> {
  const { body, params, query } = request;
  const input = operation.takesBody ? readBody(body) : readQuery(query, operation.fields);
  if (!isRecord(params)) return input;
  for (const [name, type] of operation.fields)
    if (Object.hasOwn(params, name)) input[name] = parseText(params[name], type);
  return input;
}

/** Passes the whole body, so that an input schema can also check unknown fields, as in tRPC. */
function readBody(body: unknown): Record<string, unknown> {
  return isRecord(body) ? { ...body } : {};
}
