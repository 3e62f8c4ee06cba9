/** Access checks that procedures and raw operations share. */
import { z } from 'zod';
import type { Actor, Caller, Identity } from '../auth/identify.ts';
import { networkOf } from '../auth/networks.ts';
import { findParticipant, findParticipantByToken, type PassHolder, type RoomCaller } from '../auth/participants.ts';
import type { Subject } from '../auth/rate-limits.ts';
import { signInRequired } from '../auth/sign-in-requirements.ts';
import { setCallOwner } from '../core/call-bounds.ts';
import { allowsEmbedded } from '../core/embed-scopes.ts';
import {
  emailNotConfirmed,
  embedScope,
  forbidden,
  notFound,
  participantRemoved,
  reauthenticationRequired,
  scopeMissing,
  unauthorized,
} from '../core/errors.ts';
import { isAtLeast, type Role } from '../core/roles.ts';
import { includesScope, requiredScopeOf } from '../core/scopes.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { BodyLimits } from './body-limits.ts';
import type { Context, Meta } from './context.ts';

/**
 * Returns the caller, and counts the call against their rate limit. Throws 401, 429 for too many calls, or 403 for an
 * account that works only once its address is confirmed.
 */
export function requireCaller(context: Context, identity: Identity): Caller {
  const caller = requireAnyCaller(context, identity);
  if (caller.awaitsConfirmation) throw emailNotConfirmed();
  return caller;
}

/** Like `requireCaller`, but also for an account whose address must be confirmed first. */
export function requireAnyCaller(context: Context, { caller, access, refusal }: Identity): Caller {
  if (caller === null) {
    limitUnknown(context);
    throw refusal ?? unauthorized();
  }
  const { credential } = caller;
  const ofKey = credential.kind === 'key' ? credential.workspaceId : null;
  // Workspaces of which the caller is not a member are not counted separately. Otherwise, callers could multiply their
  // limit by naming many workspaces.
  limitSignedIn(context, caller, access?.role ? access.workspaceId : ofKey);
  return caller;
}

/**
 * Counts a call against the limit of a user in a workspace, or outside of workspaces (null). All sessions and API keys
 * of the user share this limit. The keys that belong to a workspace are counted together, and not against its owner.
 * Each embed token is counted by itself: strangers have it.
 * Throws 429 for too many calls.
 */
export function limitSignedIn(context: Context, { userId, credential }: Caller, workspaceId: number | null): void {
  const key = credential.kind === 'key' ? credential : null;
  const ofUser = `user:${userId}`;
  const owner = key?.embed ? `embed:${key.id}` : key?.isOfWorkspace ? `workspace:${key.workspaceId}` : ofUser;
  setCallOwner(owner);
  limitCaller(context, owner === ofUser ? `${owner}:${workspaceId ?? 'none'}` : owner);
}

/**
 * Counts a call whose caller is unknown. A wrong Authorization header is a miss. Calls without one guess nothing:
 * people who share a network make them when they open a page. Throws 429 for too many calls.
 */
function limitUnknown(context: Context): void {
  if (context.hasAuthorization) countMiss(context);
  else limitNetwork(context);
}

/**
 * Throws 429 if the caller's network has used up the limit of one of these calls. Counts nothing. Transports call it
 * before they read the body of the calls.
 */
export function requireCallsLeft(context: Context, calls: readonly BodyLimits[], hasCredential: boolean): void {
  for (const { credential, networkLimit } of calls)
    if (networkLimit !== null && (credential === 'none' || !hasCredential))
      context.services.limits.requireLeft(networkLimit, context);
}

/** Counts a call that names nothing, from anyone, against the caller's network. Throws 429 for too many calls. */
export function limitNetwork(context: Context): void {
  const network = networkOf(context.address);
  setCallOwner(`network:${network}`);
  limitCaller(context, `network:${network}`);
}

/**
 * Counts a call of a connected app with a token that works no more. Hosted apps share a network, so this is no miss of
 * the network, which would keep all of them from learning that they have to refresh. Throws 429 for too many calls.
 */
export function limitEndedToken(context: Context, grantId: number): void {
  setCallOwner(`app:${grantId}`);
  limitCaller(context, `app:${grantId}:ended`);
}

/** Counts a call with an unknown token or credential against the caller's network. Throws 429 for too many calls. */
export function countMiss(context: Context): void {
  const network = networkOf(context.address);
  setCallOwner(`network:${network}`);
  context.services.limits.consume('publicPerAddress', network, context);
}

/** Returns the input of a call: the same value each time. Rejects if it could not be read. */
export type ReadInput = () => Promise<unknown>;

/** The field of the input with what a call without a credential is about. */
export type SubjectField = 'roomName' | 'slug' | 'token';

/** Returns a function that reads the subject of a call. Malformed input names nothing, and is rejected later. */
export function subjectIn(field: SubjectField): (readInput: ReadInput) => Promise<Subject> {
  const schema = z.object({ [field]: z.string() });
  return async (readInput) => {
    const { data } = schema.safeParse(await readInput().catch(() => null));
    return toSubject(field, data?.[field] ?? '');
  };
}

/** Returns what a call is about that names this. */
export function toSubject(field: SubjectField, name: string): Subject {
  const isSecret = field === 'token';
  // Rooms and pages are found in capitals too.
  return { name: `${field}:${isSecret ? name : name.toLowerCase()}`, isSecret };
}

/**
 * Carries out a call without a credential, and counts it against the limit of its subject and the caller's network, or,
 * if it throws 400, 401 or 404, against the misses of the network. Throws 429 for too many calls.
 */
export function callPublicly<Result>(
  context: Context,
  subject: Subject,
  carryOut: () => Promise<Result>,
  errorOf: (result: Result) => unknown = () => null,
): Promise<Result> {
  setCallOwner(`network:${networkOf(context.address)}`);
  const settle = context.services.limits.beginPublicCall(subject, context);
  return carryOut().then(
    (result) => {
      settle(errorOf(result));
      return result;
    },
    (error: unknown) => {
      settle(error);
      throw error;
    },
  );
}

/**
 * Returns the participant with this token, and counts the call against their rate limit. Throws 404 "Participant not
 * found", and 403 if a host has just removed the participant.
 */
export async function requireParticipant(context: Context, roomName: string, token: string): Promise<RoomCaller> {
  const participant = await findParticipant(context.services.db, roomName, token);
  // Many participants may share one network, so only unknown callers are counted by network.
  if (participant === null) {
    countMiss(context);
    throw notFound('Participant');
  }
  limitParticipant(context, participant);
  return participant;
}

/** Counts a call against the limit of a participant. Throws 403 if a host has just removed them. */
function limitParticipant(context: Context, { id, endReason }: RoomCaller): void {
  setCallOwner(`participant:${id}`);
  limitCaller(context, `participant:${id}`);
  if (endReason === 'removed') throw participantRemoved();
}

/**
 * Returns the participant whose token is in the Authorization header, and counts the call against their rate limit.
 * Returns null without such a token, or if it is unknown. Throws 403 if a host has just removed the participant.
 */
export async function findPassHolder(context: Context): Promise<PassHolder | null> {
  const { participantToken, services } = context;
  if (participantToken === null) return null;
  const participant = await findParticipantByToken(services.db, participantToken);
  if (participant === null) return null;
  limitParticipant(context, participant);
  return { participant, at: services.clock.now() };
}

/** Returns the network to which an operation applies its own limits, or null if the caller is exempt. */
export function limitedNetworkOf(context: Context): string | null {
  return context.services.limits.isExempt(context) ? null : networkOf(context.address);
}

/** Counts a call against the limit of `key`, which identifies the caller. Throws 429 for too many calls. */
export function limitCaller(context: Context, key: string): void {
  context.services.limits.consume('perUser', key, context);
}

/**
 * Returns the caller as a member of the workspace. Throws 404 for an unknown workspace, and 403 with `message` if the
 * caller is not a member or their role is below `min`, or if the workspace requires more than their session satisfies.
 */
export function requireRole(caller: Caller, identity: Identity, min: Role, message?: string): Actor {
  const actor = requireMember(caller, identity, min, message);
  if (identity.access?.unmet) throw signInRequired(identity.access.unmet);
  return actor;
}

/** Like `requireRole`, but also for members whose session does not satisfy what the workspace requires. */
export function requireMember(caller: Caller, { access }: Identity, min: Role, message?: string): Actor {
  if (access === null) throw notFound('Workspace');
  if (access.role === null || !isAtLeast(access.role, min)) throw forbidden(message);
  const { userId, name, credential, address } = caller;
  return { userId, name, workspaceId: access.workspaceId, role: access.role, credential, address };
}

/**
 * Throws 403 for an API key if the operation accepts no keys, or if the key lacks the required scope, and for an embed
 * token if the operation is not one of those that it allows. `name` is the name of the operation.
 */
export function requireScope(
  { credential }: Caller,
  name: string,
  {
    isRead,
    minRole,
    needsSession,
    scopeLevel,
  }: { isRead: boolean } & Pick<Meta, 'minRole' | 'needsSession' | 'scopeLevel'>,
): void {
  if (credential.kind !== 'key') return;
  if (credential.embed) {
    if (!allowsEmbedded(credential.embed, name)) throw embedScope();
    return;
  }
  if (needsSession) throw forbidden();
  if (credential.scopes === null) return;
  const required = requiredScopeOf(name, { isRead, minRole, scopeLevel });
  if (!includesScope(credential.scopes, required)) throw scopeMissing(required);
}

/** Returns the id of the caller's session. Throws 403 for an API key. */
export function requireSession({ credential }: Caller): number {
  if (credential.kind !== 'session') throw forbidden();
  return credential.id;
}

/**
 * Call this before anything that a stolen session must not allow. Throws 403 REAUTHENTICATION_REQUIRED unless the user
 * signed in, or called `reauthenticate`, within the last `reauthenticationMinutes`. Throws 403 for an API key.
 */
export function requireRecentSignIn({ services, caller }: Pick<Context, 'services'> & { caller: Caller }): void {
  const { credential } = caller;
  if (credential.kind !== 'session') throw forbidden();
  const { reauthenticationMinutes } = services.settings;
  const age = services.clock.now().getTime() - credential.authenticatedAt.getTime();
  if (reauthenticationMinutes > 0 && age > reauthenticationMinutes * MINUTE_MS) throw reauthenticationRequired();
}
