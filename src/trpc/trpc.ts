/**
 * The procedures that routers may use. Each checks, in this order: who calls (401), the workspace (404) and the role
 * (403), whether the body could be read at all (400), and then the shape that the router gives (400).
 */
import { initTRPC, type TRPCError } from '@trpc/server';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { ZodError, z } from 'zod';
import type { Actor, Caller, Identity } from '../auth/identify.ts';
import { findParticipant } from '../auth/participants.ts';
import { networkOf } from '../auth/rate-limits.ts';
import { AppError, badField, type ErrorCode, forbidden, notFound, unauthorized } from '../core/errors.ts';
import { httpStatusOf, internalError, toProblem } from '../core/problem.ts';
import { isAtLeast, type Role } from '../core/roles.ts';
import { id, toBadRequest } from '../core/validation.ts';
import { isOverload } from '../db/client.ts';
import type { Services } from '../services.ts';

/** What a door knows of a request. Doors build it from HTTP; tests may build it from nothing. */
export type Context = {
  services: Services;
  requestId: string;
  /** The caller's network address. */
  address: string;
  /** Whether no proxy says that it forwards the call. */
  isDirect: boolean;
  /** Where the caller reached us: scheme, host and port. */
  origin: string;
  identify(workspaceId: number | null): Promise<Identity>;
  /** Whether the call has an Authorization header, whatever it says. */
  hasAuthorization: boolean;
  /** Why the body could not be read; thrown once the caller is known to be allowed here. */
  unreadableBody: AppError | null;
  setHeader(name: string, value: string): void;
  setSessionCookie(session: { token: string; expiresAt: Date } | null): void;
};

/**
 * What an operation says of itself besides its shapes. `successStatus`: the status of the REST answer where it is not
 * 200. For the document: `credential`, where the operation is not protected and yet knows who shows one; `refusals`,
 * statuses that only this operation refuses with.
 */
export type Meta = OpenApiMeta & {
  successStatus?: 201;
  credential?: 'optional';
  refusals?: readonly (401 | 403 | 404 | 409)[];
};

/** What each of tRPC's own refusals is called here. Those that are not listed are our bugs. */
const trpcRefusals: Partial<Record<TRPCError['code'], [ErrorCode, string]>> = {
  BAD_REQUEST: ['BAD_REQUEST', 'Bad request'],
  NOT_FOUND: ['NOT_FOUND', 'Not found'],
  METHOD_NOT_SUPPORTED: ['METHOD_NOT_ALLOWED', 'Method not allowed'],
  PAYLOAD_TOO_LARGE: ['PAYLOAD_TOO_LARGE', 'Request body is too large'],
  UNSUPPORTED_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'Content type must be application/json'],
};

const t = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({
    isServer: true,
    errorFormatter({ error, path, ctx }) {
      const known = fromTrpcError(error);
      return {
        message: known.message,
        code: trpcCodeOf(known.code),
        data: { ...toProblem(known, ctx?.requestId ?? ''), httpStatus: httpStatusOf(known), path },
      };
    },
  });

export const { router, createCallerFactory } = t;

/** Anyone may call, signed in or not. */
export const anyone = t.procedure.use(async ({ ctx, next }) => {
  await limitPublic(ctx);
  refuseUnreadableBody(ctx);
  return next();
});

/**
 * Anyone may call; who shows a valid credential is known as `caller`, who shows none is null. Throws 401 for an
 * Authorization header that is none. A cookie alone is sent by the browser, unasked: one that is ended is none.
 */
export const anyoneOrSignedIn = t.procedure.use(async ({ ctx, next }) => {
  const { caller } = await ctx.identify(null);
  if (caller === null) await limitPublic(ctx);
  // Not by the session or key: of these a stranger may have as many as they like.
  else await ctx.services.limits.consume('perCredential', `user:${caller.userId}`, ctx);
  if (caller === null && ctx.hasAuthorization) throw unauthorized();
  refuseUnreadableBody(ctx);
  return next({ ctx: { caller } });
});

/** A participant of the room `roomName`, by the `token` that joining it gave. Throws 404 "Participant not found". */
export const inRoom = t.procedure
  .use(({ ctx, next }) => {
    refuseUnreadableBody(ctx);
    return next();
  })
  .input(
    z.object({
      roomName: z.string().describe('Name of the room'),
      token: z.string().describe('What joining the room gave'),
    }),
  )
  .use(async ({ ctx, input, next }) => {
    const participant = await findParticipant(ctx.services.db, input.roomName, input.token);
    // Many participants may share an address, so that only strangers count by it.
    if (participant === null) {
      await limitPublic(ctx);
      throw notFound('Participant');
    }
    await ctx.services.limits.consume('perCredential', `participant:${participant.id}`, ctx);
    return next({ ctx: { participant } });
  });

/** Signing in: limited by network address here, and by email address in the procedure. */
export const signingIn = t.procedure.use(async ({ ctx, next }) => {
  await ctx.services.limits.consume('signInPerAddress', networkOf(ctx.address), ctx);
  refuseUnreadableBody(ctx);
  return next();
});

const withCaller = t.procedure.use(async ({ ctx, next }) =>
  next({ ctx: { caller: await requireCaller(ctx, await ctx.identify(null)) } }),
);

/** A signed-in user, in person or by a key. */
export const signedIn = withCaller.use(({ ctx, next }) => {
  refuseUnreadableBody(ctx);
  return next();
});

/** A signed-in user in person: no key. */
export const signedInBySession = withCaller.use(({ ctx, next }) => {
  const sessionId = requireSession(ctx.caller);
  refuseUnreadableBody(ctx);
  return next({ ctx: { sessionId } });
});

const workspaceId = id.describe('Workspace ID');

/** What is left of a failure that nobody throws on purpose: too much asked of the database, or our bug. */
export function fromUnexpected(cause: unknown): AppError {
  return isOverload(cause)
    ? new AppError('SERVICE_UNAVAILABLE', 'The service is busy: try again in a moment', { cause })
    : internalError(cause);
}

/** The expected failure behind what a procedure threw, or the internal error that hides an unexpected one. */
export function fromTrpcError(error: TRPCError): AppError {
  if (error.cause instanceof AppError) return error.cause;
  if (error.code === 'PARSE_ERROR') return unreadableJson(error);
  if (error.code === 'BAD_REQUEST' && error.cause instanceof ZodError) return toBadRequest(error.cause);
  // What the adapter says of a body that is no JSON.
  if (error.code === 'BAD_REQUEST' && error.cause instanceof SyntaxError) return unreadableJson(error);
  const refusal = trpcRefusals[error.code];
  if (refusal) return new AppError(...refusal, { cause: error });
  return fromUnexpected(error.cause ?? error);
}

function unreadableJson(cause: unknown): AppError {
  return badField('', 'Request body must be valid JSON', cause);
}

/** Throws 401 (or 429, for who keeps trying) when there is no caller; else counts one call of theirs. */
export async function requireCaller(ctx: Context, { caller }: Identity): Promise<Caller> {
  if (caller === null) {
    await limitPublic(ctx);
    throw unauthorized();
  }
  await limitCaller(ctx, caller);
  return caller;
}

function limitPublic(ctx: Context): Promise<void> {
  return ctx.services.limits.consume('publicPerAddress', networkOf(ctx.address), ctx);
}

function limitCaller({ services: { limits }, ...ctx }: Context, { credential: { kind, id } }: Caller): Promise<void> {
  return limits.consume('perCredential', `${kind}:${id}`, ctx);
}

/** Throws 404 for an unknown workspace, and 403 with `otherwise` where the caller is not at least `least` there. */
export function requireRole(caller: Caller, { access }: Identity, min: Role, message?: string): Actor {
  if (access === null) throw notFound('Workspace');
  if (access.role === null || !isAtLeast(access.role, min)) throw forbidden(message);
  return { userId: caller.userId, name: caller.name, workspaceId: access.workspaceId, role: access.role };
}

/**
 * A member of the workspace `id` whose role is at least `least`. `otherwise` is the text of the 403, where it is not
 * "Forbidden".
 */
export function inWorkspace(min: Role, message?: string) {
  return withActor(min, message).use(({ ctx, next }) => {
    refuseUnreadableBody(ctx);
    return next();
  });
}

function withActor(min: Role, message?: string) {
  return withIdentity('id')
    .input(z.object({ id: workspaceId }))
    .use(({ ctx, next }) => next({ ctx: { actor: requireRole(ctx.caller, ctx.identity, min, message) } }));
}

/** Finds the caller and the workspace that `parameter` of the input names; throws 401. */
function withIdentity(parameter: 'id' | 'workspaceId') {
  const workspaceInput = z.object({ [parameter]: id });
  return t.procedure.use(async ({ ctx, getRawInput, next }) => {
    // What cannot be read names no workspace; it is refused below, once the caller is known.
    const given = workspaceInput.safeParse(await getRawInput().catch(() => undefined));
    const identity = await ctx.identify(given.success ? (given.data[parameter] ?? null) : null);
    const caller = await requireCaller(ctx, identity);
    return next({ ctx: { caller, identity } });
  });
}

function refuseUnreadableBody(ctx: Context): void {
  if (ctx.unreadableBody) throw ctx.unreadableBody;
}

/** The same for a path whose parameter is `workspaceId`, as the contract names it for analytics. */
export function inWorkspaceById(min: Role) {
  return withIdentity('workspaceId')
    .input(z.object({ workspaceId }))
    .use(({ ctx, next }) => {
      const actor = requireRole(ctx.caller, ctx.identity, min);
      refuseUnreadableBody(ctx);
      return next({ ctx: { actor } });
    });
}

/** As `inWorkspace`, in person: no key. */
export function inWorkspaceBySession(min: Role) {
  return withActor(min).use(({ ctx, next }) => {
    requireSession(ctx.caller);
    refuseUnreadableBody(ctx);
    return next();
  });
}

/** Throws 403 for a key: some things only a person may do. */
function requireSession({ credential }: Caller): number {
  if (credential.kind !== 'session') throw forbidden();
  return credential.id;
}

/** Our codes are tRPC's, but for these. */
function trpcCodeOf(code: ErrorCode): number {
  const key = code === 'METHOD_NOT_ALLOWED' ? 'METHOD_NOT_SUPPORTED' : code;
  return key in TRPC_ERROR_CODES_BY_KEY
    ? TRPC_ERROR_CODES_BY_KEY[key as keyof typeof TRPC_ERROR_CODES_BY_KEY]
    : TRPC_ERROR_CODES_BY_KEY.INTERNAL_SERVER_ERROR;
}
