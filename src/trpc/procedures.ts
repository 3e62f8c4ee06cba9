/**
 * The base procedures of all routers. Each checks in this order: the caller (401), the workspace (404), the role (403),
 * and whether the body could be parsed (400). The input schema of the router is checked last (400).
 */
import { initTRPC, type TRPCError } from '@trpc/server';
import { z } from 'zod';
import type { Actor, Caller, Identity } from '../auth/identify.ts';
import { networkOf } from '../auth/networks.ts';
import type { RoomHost } from '../auth/participants.ts';
import type { Subject } from '../auth/rate-limits.ts';
import { runCall, setCallOwner } from '../core/call-bounds.ts';
import { AppError, emailNotConfirmed, forbidden, unauthorized } from '../core/errors.ts';
import { requestedId } from '../core/requested-id.ts';
import type { Role } from '../core/roles.ts';
import { toBadRequest } from '../core/validation.ts';
import {
  callPublicly,
  countMiss,
  findPassHolder,
  limitNetwork,
  limitSignedIn,
  type ReadInput,
  requireAnyCaller,
  requireCaller,
  requireMember,
  requireParticipant,
  requireRecentSignIn,
  requireRole,
  requireScope,
  requireSession,
  type SubjectField,
  subjectIn,
} from './access.ts';
import type { CallContext, Context, Meta } from './context.ts';
import { type ErrorShape, fromTrpcError, toTrpcShape } from './errors.ts';
import {
  type Attempt,
  beginCall,
  type KeyOwner,
  type Outcome,
  ownerOfCaller,
  ownerOfGuest,
  ownerOfParticipant,
  type Repetition,
} from './idempotency.ts';

const t = initTRPC
  .context<CallContext>()
  .meta<Meta>()
  .create({
    isServer: true,
    // The transport formats errors just as this function does. The function is given here so that the client knows the
    // type of the errors.
    errorFormatter: ({ error, path, ctx }): ErrorShape => toTrpcShape(fromTrpcError(error), path, ctx?.requestId ?? ''),
  });

export const { router } = t;

/** Features whose calls hash passwords. */
const HASHES_PASSWORDS = new Set(['auth', 'passwords']);

/** What a check adds to the context. */
type Checked = { caller?: Caller | null; actor?: Actor; host?: RoomHost };

/**
 * A procedure that runs each call with its own time limits. `check` checks the caller, and returns the fields that it
 * adds to the context. A write with an idempotency key is then carried out once. All of it is in a single middleware,
 * because tRPC copies the context and the options of a call for every middleware.
 */
function checked<Extra extends Checked>(
  check: (ctx: Context, readInput: ReadInput) => Extra | Promise<Extra>,
  access: Pick<Meta, 'minRole' | 'needsSession' | 'networkLimit' | 'takesPassHolders'> = {},
  findSubject: (extra: Extra, readInput: ReadInput) => Promise<Subject | null> = async () => null,
) {
  return t.procedure.meta(access).use(({ ctx, path, type, meta, next }) => {
    const [feature = ''] = path.split('.', 1);
    const isRead = type !== 'mutation';
    return runCall(ctx.bounds, { feature, isRead }, async (call) => {
      const extra = await check(ctx, ctx.readInput);
      if (extra.caller) requireScope(extra.caller, path, { isRead, ...meta });
      if (extra.caller && meta?.needsRecentSignIn)
        requireRecentSignIn({ services: ctx.services, caller: extra.caller });
      const carryOut = async () => {
        if (ctx.unreadableBody) throw ctx.unreadableBody;
        const run = () => next({ ctx: extra });
        if (ctx.idempotencyKey === null || isRead || meta?.idempotencyKey !== undefined) return run();
        return runOnce(ctx, path, ownerOf(ctx, extra, subject), extra.actor === undefined, run);
      };
      const subject = await findSubject(extra, ctx.readInput);
      // Streams last for long, and passwords have a queue of their own.
      const isShared = type !== 'subscription' && !HASHES_PASSWORDS.has(feature);
      const inTurn = () => (isShared ? ctx.services.shares.run(call, carryOut) : carryOut());
      return subject === null ? inTurn() : callPublicly(ctx, subject, inTurn, errorOf);
    });
  });
}

function errorOf(result: MiddlewareResult): unknown {
  return result.ok ? null : fromTrpcError(result.error);
}

function ownerOf(ctx: Context, { caller, actor, host }: Checked, subject: Subject | null): KeyOwner {
  if (host && 'participant' in host) return ownerOfParticipant(host.participant);
  if (caller) return ownerOfCaller(caller, actor?.workspaceId ?? null);
  return ownerOfGuest(ctx, subject?.isSecret ? subject.name : null);
}

type MiddlewareResult = { ok: true; data: unknown } | { ok: false; error: TRPCError };

/** Runs a call with an idempotency key, unless its response is stored. */
async function runOnce<Result extends MiddlewareResult>(
  ctx: CallContext,
  operation: string,
  owner: KeyOwner,
  checksRoles: boolean,
  run: () => Promise<Result>,
): Promise<Result> {
  const begun = await beginWith(ctx, operation, owner, checksRoles);
  // `as`: it has the fields that tRPC reads from a result. The output was checked when it was stored.
  if ('replay' in begun) return { ok: true, data: begun.replay() } as unknown as Result;
  const result = await run();
  await begun.settle(toOutcome(result));
  return result;
}

/** A function of its own, so that nothing refers to the input while the call is carried out. */
async function beginWith(
  ctx: CallContext,
  operation: string,
  owner: KeyOwner,
  checksRoles: boolean,
): Promise<Attempt | Repetition> {
  // Malformed input is rejected later, and an operation without input ignores it.
  const input = await ctx.readInput().catch(() => null);
  const key = ctx.idempotencyKey ?? '';
  return beginCall(ctx, { key, owner, operation, input, checksRoles });
}

function toOutcome(result: MiddlewareResult): Outcome {
  if (result.ok) return { data: result.data };
  const { cause, code } = result.error;
  // tRPC throws BAD_REQUEST for input that does not match its schema.
  const isRefusal = cause instanceof AppError || code === 'BAD_REQUEST';
  return isRefusal ? { refusal: fromTrpcError(result.error) } : { failure: result.error };
}

/** Anyone may call, signed in or not. The input names nothing that could be guessed. */
export const anyone = checked(
  (ctx) => {
    limitNetwork(ctx);
    return {};
  },
  { networkLimit: 'perUser' },
);

/** Anyone may call, signed in or not. `field` of the input names a room or a booking page, or is a token. */
export function anyoneNaming(field: SubjectField) {
  const readSubject = subjectIn(field);
  return checked(
    () => ({}),
    { networkLimit: 'publicPerAddress' },
    (_extra, readInput) => readSubject(readInput),
  );
}

/**
 * Anyone may call. `caller` is the user of a session, or null. `field` is what the input names. Throws 401 for an
 * invalid Authorization header, and 403 for an API key: it acts for its creator or its workspace, while these
 * operations are for the person who calls. An expired session cookie is ignored, because browsers send it
 * automatically. `refuseKey` replaces the error "Forbidden" for a key. An account whose address must be confirmed first
 * gets 403 as elsewhere, unless the operation `takesUnconfirmed`: as a guest, the person would not act as the account
 * that the page shows.
 */
export function anyoneOrInSession(
  field: SubjectField,
  { refuseKey = forbidden, takesUnconfirmed = false }: { refuseKey?: () => AppError; takesUnconfirmed?: boolean } = {},
) {
  const readSubject = subjectIn(field);
  return checked(
    async (ctx): Promise<{ caller: Caller | null }> => {
      const { caller, refusal } = await ctx.identify(null);
      if (caller !== null) limitSignedIn(ctx, caller, null);
      else if (ctx.hasAuthorization) {
        countMiss(ctx);
        throw refusal ?? unauthorized();
      }
      if (caller?.credential.kind === 'key') throw refuseKey();
      if (caller?.awaitsConfirmation && !takesUnconfirmed) throw emailNotConfirmed();
      return { caller };
    },
    { needsSession: true, networkLimit: 'publicPerAddress' },
    async ({ caller }, readInput) => (caller === null ? readSubject(readInput) : null),
  );
}

/**
 * Anyone may call. `caller` is the user of a valid session, or null. Whatever else a caller sends counts as no
 * credential, so that a page that anyone may open also opens with an expired session, and for an account whose address
 * must be confirmed first. `field` is what the input names.
 */
export function anyoneRecognized(field: SubjectField) {
  const readSubject = subjectIn(field);
  return checked(
    async (ctx): Promise<{ caller: Caller | null }> => {
      const { caller } = await ctx.identify(null);
      if (caller?.credential.kind !== 'session') return { caller: null };
      limitSignedIn(ctx, caller, null);
      return { caller: caller.awaitsConfirmation ? null : caller };
    },
    { networkLimit: 'publicPerAddress' },
    async ({ caller }, readInput) => (caller === null ? readSubject(readInput) : null),
  );
}

/**
 * A participant of the room `roomName`, found by the `token` that they received on joining. Throws 404 "Participant not
 * found", and 403 once a host has removed the participant.
 */
export const inRoom = checked(() => ({}))
  .meta({ idempotencyKey: 'of the participant' })
  .input(
    z
      .object({
        roomName: z.string().describe('Name of the room'),
        token: z.string().describe('The token that the participant received on joining the room'),
      })
      .meta({ id: 'ParticipantTokenRequest' }),
  )
  .use(async ({ ctx, path, type, input, next }) => {
    const participant = await requireParticipant(ctx, input.roomName, input.token);
    const run = () => next({ ctx: { participant } });
    if (ctx.idempotencyKey === null || type !== 'mutation') return run();
    return runOnce(ctx, path, ownerOfParticipant(participant), false, run);
  });

/**
 * For signing in. Limits the calls per network. The operation itself limits the calls per email address. An idempotency
 * key is ignored, because the stored answer would contain a session token.
 */
export const signingIn = checked(async (ctx) => {
  setCallOwner(`network:${networkOf(ctx.address)}`);
  await ctx.services.limits.consumeExactly('signInPerAddress', networkOf(ctx.address), ctx);
  return {};
}).meta({ idempotencyKey: 'ignored', networkLimit: 'signInPerAddress' });

/** A signed-in user, by session or API key. */
export const signedIn = checked(async (ctx) => ({ caller: requireCaller(ctx, await ctx.identify(null)) }));

/**
 * Who acts as a host of the room that the input names: a signed-in user, by session or API key, or a participant with a
 * pass, by the token that they received on joining, as the credential. The operation checks whether they are a host.
 */
export const asRoomHost = checked(
  async (ctx): Promise<{ host: RoomHost; caller?: Caller }> => {
    const holder = await findPassHolder(ctx);
    if (holder !== null) return { host: holder };
    const caller = requireCaller(ctx, await ctx.identify(null));
    return { host: caller, caller };
  },
  { takesPassHolders: true },
);

/** A signed-in user by session. Throws 403 for an API key. */
export const signedInBySession = checked(
  async (ctx) => {
    const caller = requireCaller(ctx, await ctx.identify(null));
    return { caller, sessionId: requireSession(caller) };
  },
  { needsSession: true },
);

/**
 * Like `signedInBySession`, but also for a user whose account works only once its address is confirmed: for what they
 * need to confirm it, or to leave.
 */
export const signedInUnconfirmed = checked(
  async (ctx) => {
    const caller = requireAnyCaller(ctx, await ctx.identify(null));
    return { caller, sessionId: requireSession(caller) };
  },
  { needsSession: true },
);

const workspaceId = requestedId.describe('Workspace ID');
const WorkspaceInput = z.object({ id: workspaceId });
const WorkspaceIdInput = z.object({ workspaceId });

/**
 * A member of the workspace `id`, with a role of at least `min`, by session or API key. `message` replaces the text
 * "Forbidden" of the 403.
 */
export function inWorkspace(min: Role, message?: string) {
  return checked(
    async (ctx, readInput) => {
      const { caller, identity } = await findAccess(ctx, readInput, WorkspaceInput, (input) => input.id);
      return { caller, actor: requireRole(caller, identity, min, message) };
    },
    { minRole: min },
  ).input(WorkspaceInput);
}

/** Like `inWorkspace`, but only by session. Throws 403 for an API key. */
export function inWorkspaceBySession(min: Role) {
  return checked(
    async (ctx, readInput) => {
      const { caller, identity } = await findAccess(ctx, readInput, WorkspaceInput, (input) => input.id);
      return { caller, actor: requireRole(caller, identity, min), sessionId: requireSession(caller) };
    },
    { minRole: min, needsSession: true },
  ).input(WorkspaceInput);
}

/**
 * Like `inWorkspaceBySession`, but also for members whose session does not satisfy what the workspace requires: for
 * what tells them so.
 */
export const inWorkspaceUnsatisfied = checked(
  async (ctx, readInput) => {
    const { caller, identity } = await findAccess(ctx, readInput, WorkspaceInput, (input) => input.id);
    return { caller, actor: requireMember(caller, identity, 'member'), sessionId: requireSession(caller) };
  },
  { minRole: 'member', needsSession: true },
).input(WorkspaceInput);

/**
 * Like `inWorkspace`, for the analytics path: the API contract (docs/versioning.md) calls its parameter `workspaceId`.
 */
export function inWorkspaceById(min: Role) {
  return checked(
    async (ctx, readInput) => {
      const { caller, identity } = await findAccess(ctx, readInput, WorkspaceIdInput, (input) => input.workspaceId);
      return { caller, actor: requireRole(caller, identity, min) };
    },
    { minRole: min },
  ).input(WorkspaceIdInput);
}

/**
 * Finds the caller, and their role in the workspace that the input names. Throws 401, and after that 400 if the input
 * names no workspace.
 */
async function findAccess<Input>(
  ctx: Context,
  readInput: ReadInput,
  schema: z.ZodType<Input>,
  idOf: (input: Input) => number,
): Promise<{ caller: Caller; identity: Identity }> {
  const input = await readInput().catch(() => undefined);
  const given = schema.safeParse(input);
  const identity = await ctx.identify(given.success ? idOf(given.data) : null);
  const caller = requireCaller(ctx, identity);
  if (!given.success) {
    // Throws the error again if the input is malformed.
    await readInput();
    throw toBadRequest(given.error);
  }
  return { caller, identity };
}
