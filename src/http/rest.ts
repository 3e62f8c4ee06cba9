/**
 * The REST facade: every procedure with `meta.openapi` becomes a real Fastify route, that joins path, query and body,
 * calls the procedure and writes its answer. Permission, validation, result and error are the procedure's own.
 */
import { type AnyTRPCProcedure, TRPCError } from '@trpc/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Identity } from '../auth/identify.ts';
import { AppError } from '../core/errors.ts';
import { id } from '../core/validation.ts';
import { appRouter } from '../routers/index.ts';
import type { Services } from '../services.ts';
import { createCallerFactory, fromTrpcError, type Meta, requireCaller } from '../trpc/trpc.ts';
import { createContext, identifyRequest } from './context.ts';
import { routeOf } from './fastify-path.ts';
import { parseJsonBodies, refuseOtherBodies, UnreadableBody } from './json-body.ts';

type Kind = 'integer' | 'number' | 'boolean' | 'string';

const kinds: readonly unknown[] = ['integer', 'number', 'boolean', 'string'] satisfies Kind[];

/** One operation, worked out at start so that a request only follows it. */
export type Operation = {
  name: string;
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** `/api/workspaces/{id}`, as OpenAPI writes it. */
  path: string;
  /** Whether a call needs a credential, may have one, or has no use for it. */
  credential: 'required' | 'optional' | 'none';
  takesBody: boolean;
  /** Status of success. */
  status: number;
  /** Refusals beyond those that every operation of its sort may give, for the document. */
  errorStatuses: readonly number[];
  /** The kind of every input field, for what comes as text. */
  kinds: ReadonlyMap<string, Kind>;
};

// The record is flat at run time (`labels.create`), which its type does not say.
const procedures = appRouter._def.procedures as unknown as Record<string, AnyTRPCProcedure>;

const INTEGER = /^(?:0|-?[1-9]\d{0,15})$/;
const INTEGER_OR_DECIMAL = /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/;

const notAnObject = new AppError('BAD_REQUEST', 'Request body must be a JSON object', {
  issues: [{ path: '', message: 'Request body must be a JSON object' }],
});

const identities = new WeakMap<FastifyRequest, Identity>();

const createCaller = createCallerFactory(appRouter);

type Call = (input: unknown) => Promise<unknown>;

/** All operations of the router that have a REST path. */
export function listOperations(): Operation[] {
  return Object.entries(procedures).flatMap(([name, { _def: definition }]) => {
    // The router's meta type, which tRPC does not carry into its flat record.
    const { openapi, successStatus, credential = 'none', refusals = [] } = (definition.meta ?? {}) as Meta;
    if (!openapi) return [];
    const { method, path, protect = true } = openapi;
    // Present on every procedure of a builder, though not in the public type; the document's generator reads it too.
    const { inputs } = definition as unknown as { inputs: readonly z.ZodType[] };
    return [
      {
        name,
        method,
        path,
        credential: protect ? 'required' : credential,
        takesBody: method !== 'GET' && method !== 'DELETE',
        status: successStatus ?? 200,
        errorStatuses: refusals,
        kinds: kindsOf(inputs),
      },
    ];
  });
}

function kindsOf(inputs: readonly z.ZodType[]): Map<string, Kind> {
  const found = new Map<string, Kind>();
  for (const input of inputs) {
    const { properties = {} } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
    for (const [name, schema] of Object.entries(properties)) {
      const type = typeof schema === 'object' ? schema.type : undefined;
      found.set(name, isKind(type) ? type : 'string');
    }
  }
  return found;
}

function isKind(type: unknown): type is Kind {
  return kinds.includes(type);
}

/** The first of these parameters that the path has, as an id; null where there is none, or no valid one. */
export function idInPath({ params }: FastifyRequest, ...names: readonly string[]): number | null {
  if (!isRecord(params)) return null;
  const name = names.find((one) => params[one] !== undefined);
  const given = id.safeParse(name === undefined ? undefined : fromText(params[name], 'integer'));
  return given.success ? given.data : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Text of a path or query as the kind that the shape names; what is not of that kind stays text, and is refused. */
function fromText(text: unknown, kind: Kind): unknown {
  if (typeof text !== 'string') return text;
  if (kind === 'integer' && INTEGER.test(text)) return Number(text);
  if (kind === 'number' && INTEGER_OR_DECIMAL.test(text)) return Number(text);
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** The workspace of a path such as `/api/workspaces/:id/labels` or `.../:workspaceId/analytics`; null where there is none, or no valid one. */
export function workspaceIdOf(request: FastifyRequest): number | null {
  return idInPath(request, 'workspaceId', 'id');
}

/** Registers every operation on `app`. */
export function serveRest(app: FastifyInstance, services: Services): void {
  parseJsonBodies(app);
  refuseOtherBodies(app);
  for (const operation of listOperations()) {
    app.route({
      method: operation.method,
      url: routeOf(operation.path),
      // Before the body is read, so that strangers cannot make us read one; procedures find the answer ready.
      async onRequest(request, reply) {
        if (operation.credential !== 'required') return;
        const identity = await identifyRequest(services, request, workspaceIdOf(request));
        identities.set(request, identity);
        if (identity.caller === null) await requireCaller(createContext(services, request, reply), identity);
      },
      async handler(request, reply) {
        const identity = identities.get(request);
        const context = createContext(services, request, reply, {
          ...(identity && { identity }),
          unreadableBody: unreadable(operation, request.body),
        });
        try {
          const answer = await procedureOf(createCaller(context), operation.name)(joinInput(operation, request));
          return reply.status(operation.status).send(answer);
        } catch (error) {
          throw error instanceof TRPCError ? fromTrpcError(error) : error;
        }
      },
    });
  }
}

function unreadable(operation: Operation, body: unknown): AppError | null {
  if (!operation.takesBody || body === undefined) return null;
  if (body instanceof UnreadableBody) return body.error;
  return isRecord(body) ? null : notAnObject;
}

/** The procedure `labels.create` of a caller, by its name. */
function procedureOf(caller: ReturnType<typeof createCaller>, name: string): Call {
  return name.split('.').reduce<unknown>((node, step) => (node as Record<string, unknown>)[step], caller) as Call;
}

/** Path values win over those of query or body: nobody reaches another workspace through a body. */
function joinInput(operation: Operation, request: FastifyRequest): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  const { body } = request;
  const params = isRecord(request.params) ? request.params : {};
  const query = !operation.takesBody && isRecord(request.query) ? request.query : {};
  for (const [name, kind] of operation.kinds) {
    if (Object.hasOwn(params, name)) input[name] = fromText(params[name], kind);
    else if (operation.takesBody && isRecord(body) && Object.hasOwn(body, name)) input[name] = body[name];
    else if (Object.hasOwn(query, name)) input[name] = fromText(query[name], kind);
  }
  return input;
}
