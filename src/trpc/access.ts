/** Access checks that procedures and raw operations share. */
import type { Actor, Caller, Identity } from '../auth/identify.ts';
import { networkOf } from '../auth/networks.ts';
import { setCallOwner } from '../core/call-bounds.ts';
import { forbidden, notFound, unauthorized } from '../core/errors.ts';
import { isAtLeast, type Role } from '../core/roles.ts';
import type { Context } from './context.ts';

/** Returns the caller and counts the call against their rate limit. Throws 401, and 429 for too many calls. */
export async function requireCaller(context: Context, { caller }: Identity): Promise<Caller> {
  if (caller === null) {
    await limitNetwork(context);
    throw unauthorized();
  }
  setCallOwner(`user:${caller.userId}`);
  const { kind, id } = caller.credential;
  await limitCaller(context, `${kind}:${id}`);
  return caller;
}

/** Counts a call without a valid credential against the caller's network. Throws 429 for too many. */
export function limitNetwork(context: Context): Promise<void> {
  setCallOwner(`network:${networkOf(context.address)}`);
  return context.services.limits.consume('publicPerAddress', networkOf(context.address), context);
}

/** Counts a call against the limit of `key`, which names the caller. Throws 429 for too many. */
export function limitCaller(context: Context, key: string): Promise<void> {
  return context.services.limits.consume('perCredential', key, context);
}

/**
 * Returns the caller as a member of the workspace. Throws 404 for an unknown workspace, and 403 with `message` if the
 * caller is not a member or their role is below `min`.
 */
export function requireRole(caller: Caller, { access }: Identity, min: Role, message?: string): Actor {
  if (access === null) throw notFound('Workspace');
  if (access.role === null || !isAtLeast(access.role, min)) throw forbidden(message);
  return { userId: caller.userId, name: caller.name, workspaceId: access.workspaceId, role: access.role };
}

/** Returns the id of the caller's session. Throws 403 for an API key. */
export function requireSession({ credential }: Caller): number {
  if (credential.kind !== 'session') throw forbidden();
  return credential.id;
}
