/**
 * The base procedures of all routers. Each checks in this order: the caller (401), the workspace (404), the role (403),
 * and whether the body could be parsed (400). The input schema of the router is checked last (400).
 */
import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import { networkOf } from '../auth/networks.ts';
import { findParticipant } from '../auth/participants.ts';
import { runCall, setCallOwner } from '../core/call-bounds.ts';
import { notFound, unauthorized } from '../core/errors.ts';
import type { Role } from '../core/roles.ts';
import { id } from '../core/validation.ts';
import { limitCaller, limitNetwork, limitUser, requireCaller, requireRole, requireSession } from './access.ts';
import type { Context, Meta } from './context.ts';
import { fromTrpcError, toTrpcShape } from './errors.ts';

const t = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({
    isServer: true,
    // The transport formats errors in the same way. This tells the client their type.
    errorFormatter: ({ error, path, ctx }) => toTrpcShape(fromTrpcError(error), path, ctx?.requestId ?? ''),
  });

export const { router } = t;

/** Runs a call within bounds of its own. */
const procedure = t.procedure.use(({ ctx, path, type, next }) => {
  const [feature = ''] = path.split('.');
  return runCall(ctx.bounds, { feature, isRead: type === 'query' }, () => next());
});

/** Anyone may call, signed in or not. */
export const anyone = procedure.use(async ({ ctx, next }) => {
  limitNetwork(ctx);
  requireReadableBody(ctx);
  return next();
});

/**
 * Anyone may call. `caller` is the signed-in user, or null. Throws 401 for an invalid Authorization header. An expired
 * session cookie is ignored, because browsers send it automatically.
 */
export const anyoneOrSignedIn = procedure.use(async ({ ctx, next }) => {
  const { caller } = await ctx.identify(null);
  if (caller === null) limitNetwork(ctx);
  else limitUser(ctx, caller.userId, null);
  if (caller === null && ctx.hasAuthorization) throw unauthorized();
  requireReadableBody(ctx);
  return next({ ctx: { caller } });
});

/**
 * A participant of the room `roomName`, found by the `token` that they received on joining. Throws 404 "Participant not
 * found".
 */
export const inRoom = procedure
  .use(({ ctx, next }) => {
    requireReadableBody(ctx);
    return next();
  })
  .input(
    z.object({
      roomName: z.string().describe('Name of the room'),
      token: z.string().describe('The token that the participant received on joining the room'),
    }),
  )
  .use(async ({ ctx, input, next }) => {
    const participant = await findParticipant(ctx.services.db, input.roomName, input.token);
    // Many participants may share one network, so only unknown callers are counted by network.
    if (participant === null) {
      limitNetwork(ctx);
      throw notFound('Participant');
    }
    setCallOwner(`participant:${participant.id}`);
    limitCaller(ctx, `participant:${participant.id}`);
    return next({ ctx: { participant } });
  });

/** For signing in. Limits the calls per network. The operation itself limits those per email address and network. */
export const signingIn = procedure.use(async ({ ctx, next }) => {
  setCallOwner(`network:${networkOf(ctx.address)}`);
  await ctx.services.limits.consumeExactly('signInPerAddress', networkOf(ctx.address), ctx);
  requireReadableBody(ctx);
  return next();
});

const withCaller = procedure.use(async ({ ctx, next }) =>
  next({ ctx: { caller: requireCaller(ctx, await ctx.identify(null)) } }),
);

/** A signed-in user, by session or API key. */
export const signedIn = withCaller.use(({ ctx, next }) => {
  requireReadableBody(ctx);
  return next();
});

/** A signed-in user by session. Throws 403 for an API key. */
export const signedInBySession = withCaller.use(({ ctx, next }) => {
  const sessionId = requireSession(ctx.caller);
  requireReadableBody(ctx);
  return next({ ctx: { sessionId } });
});

const workspaceId = id.describe('Workspace ID');

/**
 * A member of the workspace `id`, with a role of at least `min`, by session or API key. `message` replaces the text
 * "Forbidden" of the 403.
 */
export function inWorkspace(min: Role, message?: string) {
  return withActor(min, message).use(({ ctx, next }) => {
    requireReadableBody(ctx);
    return next();
  });
}

/** Like `inWorkspace`, but only by session. Throws 403 for an API key. */
export function inWorkspaceBySession(min: Role) {
  return withActor(min).use(({ ctx, next }) => {
    const sessionId = requireSession(ctx.caller);
    requireReadableBody(ctx);
    return next({ ctx: { sessionId } });
  });
}

function withActor(min: Role, message?: string) {
  return withIdentity('id')
    .input(z.object({ id: workspaceId }))
    .use(({ ctx, next }) => next({ ctx: { actor: requireRole(ctx.caller, ctx.identity, min, message) } }));
}

/** Like `inWorkspace`, for the analytics path: the contract calls its parameter `workspaceId`. */
export function inWorkspaceById(min: Role) {
  return withIdentity('workspaceId')
    .input(z.object({ workspaceId }))
    .use(({ ctx, next }) => {
      const actor = requireRole(ctx.caller, ctx.identity, min);
      requireReadableBody(ctx);
      return next({ ctx: { actor } });
    });
}

/** Finds the caller, and their role in the workspace that the input field `parameter` names. Throws 401. */
function withIdentity(parameter: 'id' | 'workspaceId') {
  const workspaceInput = z.object({ [parameter]: id });
  return procedure.use(async ({ ctx, getRawInput, next }) => {
    // An invalid id names no workspace. The input schema refuses it later, once the caller is known.
    const given = workspaceInput.safeParse(await getRawInput().catch(() => undefined));
    const identity = await ctx.identify(given.success ? (given.data[parameter] ?? null) : null);
    const caller = requireCaller(ctx, identity);
    return next({ ctx: { caller, identity } });
  });
}

function requireReadableBody({ unreadableBody }: Context): void {
  if (unreadableBody) throw unreadableBody;
}
