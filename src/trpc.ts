/**
 * The procedures that routers may use. Each checks, in this order: who calls (401), the workspace (404) and the role
 * (403), whether the body could be read at all (400), and then the shape that the router gives (400).
 */
import { initTRPC, type TRPCError } from '@trpc/server';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { ZodError, z } from 'zod';
import type { Actor, Caller, Identity } from './auth/identify.ts';
import { networkOf } from './auth/rate-limits.ts';
import { AppError, type ErrorCode, forbidden, notFound, unauthorized } from './core/errors.ts';
import { httpStatusOf, internalError, toProblem } from './core/problem.ts';
import { isAtLeast, type Role } from './core/roles.ts';
import { id, toBadRequest } from './core/validation.ts';
import type { Services } from './services.ts';

/** What a door knows of a request. Doors build it from HTTP; tests may build it from nothing. */
export type Context = {
  services: Services;
  requestId: string;
  /** The caller's network address. */
  address: string;
  /** Where the caller reached us: scheme, host and port. */
  origin: string;
  identify(workspaceId: number | null): Promise<Identity>;
  /** Why the body could not be read; thrown once the caller is known to be allowed here. */
  unreadableBody: AppError | null;
  setHeader(name: string, value: string): void;
  setSessionCookie(session: { token: string; expiresAt: Date } | null): void;
};

/**
 * What an operation says of itself besides its shapes. `successStatus`: the status of the REST answer where it is not
 * 200. `refusals`: statuses that only this operation refuses with, for the document.
 */
export type Meta = OpenApiMeta & { successStatus?: 201; refusals?: readonly (401 | 403 | 404 | 409)[] };

/** What each of tRPC's own refusals is called here. Those that are not listed are our bugs. */
const trpcRefusals: Partial<Record<TRPCError['code'], [ErrorCode, string]>> = {
  PARSE_ERROR: ['BAD_REQUEST', 'Request body must be valid JSON'],
  BAD_REQUEST: ['BAD_REQUEST', 'Bad request'],
  NOT_FOUND: ['NOT_FOUND', 'Not found'],
  METHOD_NOT_SUPPORTED: ['METHOD_NOT_ALLOWED', 'Method not allowed'],
  PAYLOAD_TOO_LARGE: ['PAYLOAD_TOO_LARGE', 'Request body is too large'],
  UNSUPPORTED_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'Content type must be application/json'],
};

/** The expected failure behind what a procedure threw, or the internal error that hides an unexpected one. */
export const fromTrpcError = (error: TRPCError): AppError => {
  if (error.cause instanceof AppError) return error.cause;
  if (error.code === 'BAD_REQUEST' && error.cause instanceof ZodError) return toBadRequest(error.cause);
  const refusal = trpcRefusals[error.code];
  return refusal ? new AppError(...refusal, { cause: error }) : internalError(error);
};

/** Our codes are tRPC's, but for these. */
const trpcCodeOf = (code: ErrorCode): number => {
  const key = code === 'METHOD_NOT_ALLOWED' ? 'METHOD_NOT_SUPPORTED' : code;
  return key in TRPC_ERROR_CODES_BY_KEY
    ? TRPC_ERROR_CODES_BY_KEY[key as keyof typeof TRPC_ERROR_CODES_BY_KEY]
    : TRPC_ERROR_CODES_BY_KEY.INTERNAL_SERVER_ERROR;
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

const refuseUnreadableBody = (ctx: Context): void => {
  if (ctx.unreadableBody) throw ctx.unreadableBody;
};

const limitPublic = (ctx: Context): Promise<void> =>
  ctx.services.limits.consume('publicPerAddress', networkOf(ctx.address), ctx);

/** Throws 401 (or 429, for who keeps trying) when there is no caller; else counts one call of theirs. */
export const requireCaller = async (ctx: Context, { caller }: Identity): Promise<Caller> => {
  if (caller === null) {
    await limitPublic(ctx);
    throw unauthorized();
  }
  await ctx.services.limits.consume('perCredential', String(caller.sessionId), ctx);
  return caller;
};

/** Throws 404 for an unknown workspace, and 403 with `otherwise` where the caller is not at least `least` there. */
export const requireRole = (caller: Caller, { access }: Identity, least: Role, otherwise?: string): Actor => {
  if (access === null) throw notFound('Workspace');
  if (access.role === null || !isAtLeast(access.role, least)) throw forbidden(otherwise);
  return { userId: caller.userId, name: caller.name, workspaceId: access.workspaceId, role: access.role };
};

/** Anyone may call, signed in or not. */
export const anyone = t.procedure.use(async ({ ctx, next }) => {
  await limitPublic(ctx);
  refuseUnreadableBody(ctx);
  return next();
});

/** Signing in: limited by network address here, and by email address in the procedure. */
export const signingIn = t.procedure.use(async ({ ctx, next }) => {
  await ctx.services.limits.consume('signInPerAddress', networkOf(ctx.address), ctx);
  refuseUnreadableBody(ctx);
  return next();
});

/** A signed-in user. */
export const signedIn = t.procedure.use(async ({ ctx, next }) => {
  const caller = await requireCaller(ctx, await ctx.identify(null));
  refuseUnreadableBody(ctx);
  return next({ ctx: { caller } });
});

const workspaceInput = z.object({ id: id.describe('Workspace ID') });

/**
 * A member of the workspace `id` whose role is at least `least`. `otherwise` is the text of the 403, where it is not
 * "Forbidden".
 */
export const inWorkspace = (least: Role, otherwise?: string) =>
  t.procedure
    .use(async ({ ctx, getRawInput, next }) => {
      // What cannot be read names no workspace; it is refused below, once the caller is known.
      const given = workspaceInput.safeParse(await getRawInput().catch(() => undefined));
      const identity = await ctx.identify(given.success ? given.data.id : null);
      const caller = await requireCaller(ctx, identity);
      return next({ ctx: { caller, identity } });
    })
    .input(workspaceInput)
    .use(({ ctx, next }) => {
      const actor = requireRole(ctx.caller, ctx.identity, least, otherwise);
      refuseUnreadableBody(ctx);
      return next({ ctx: { actor } });
    });
