/** What one request to `/mcp` may do: the rights of its API key or app, narrowed by the parameters of its URL. */
import type { Caller, KeyCredential } from '../auth/identify.ts';
import { type AppError, forbidden, scopeMissing } from '../core/errors.ts';
import { isAtLeast, type Role } from '../core/roles.ts';
import { includesScope, type RequiredScope } from '../core/scopes.ts';
import { requireCaller } from '../trpc/access.ts';
import type { Context } from '../trpc/context.ts';
import type { Group } from './groups.ts';

/** The parameters of the URL. They only narrow what the key may do. */
export type Narrowing = {
  /** Null if all groups are available, and the operations that are in no group. */
  groups: readonly Group[] | null;
  isReadOnly: boolean;
};

export type McpSession = Narrowing & {
  /** Its `identify` returns the caller of this session, whose credential is marked with `via: 'mcp'`. */
  context: Context;
  caller: Caller;
  credential: KeyCredential;
  role: Role;
  token: string;
  /** Whether the request has been counted against the limit of the key. An operation counts its own call. */
  count: { isDone: boolean };
  /** Logs an error of the server, under the ID of the request. */
  logFailure(failure: AppError): void;
};

/** What the access to an operation depends on. */
export type Restricted = {
  group: Group | null;
  isRead: boolean;
  minRole: Role | null;
  scope: RequiredScope;
};

/** Returns why the session may not call the operation, or null if it may. */
export function refusalOf(session: McpSession, { group, isRead, minRole, scope }: Restricted): AppError | null {
  const { groups, isReadOnly, credential, role } = session;
  if (groups !== null && (group === null || !groups.includes(group)))
    return forbidden(`This connection is limited to the groups ${groups.join(', ')} (?groups= in its URL)`);
  if (isReadOnly && !isRead) return forbidden('This connection only reads (?read_only=1 in its URL)');
  if (minRole !== null && !isAtLeast(role, minRole)) return forbidden(`This needs the role ${minRole} or higher`);
  return includesScope(credential.scopes, scope) ? null : scopeMissing(scope);
}

/** Counts the request against the limit of the key, unless it has been counted. Throws 429. */
export async function countRequest({ context, credential, count }: McpSession): Promise<void> {
  if (count.isDone) return;
  count.isDone = true;
  requireCaller(context, await context.identify(credential.workspaceId));
}
