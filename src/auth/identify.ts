/** Finds the caller and their role in a workspace with one query. */
import { runInBackground } from '../core/call-bounds.ts';
import { type EmbedScope, toEmbedScope } from '../core/embed-scopes.ts';
import { type AppError, networkNotAllowed } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { type Role, toRole } from '../core/roles.ts';
import { type Clock, DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { bool, bytes, int, nullable, type RowOf, statement, text, time } from '../db/statements.ts';
import { isApiKey } from './api-keys.ts';
import { findApiKey } from './find-api-key.ts';
import { type AppCall, findAppGrant } from './find-app-grant.ts';
import { findEmbedToken } from './find-embed-token.ts';
import {
  allUnmetBy,
  type SignInRequirement,
  type UnmetRequirements,
  unmetBy,
  unmetColumns,
} from './sign-in-requirements.ts';
import { hashToken, isToken } from './tokens.ts';

/** What the caller authenticated with. A key works only in one workspace. */
export type Credential =
  /** `authenticatedAt`: when the user last proved who they are. */
  { kind: 'session'; id: number; authenticatedAt: Date } | KeyCredential;

export type KeyCredential = {
  kind: 'key';
  id: number;
  name: string;
  /** The only workspace in which the key works. */
  workspaceId: number;
  /** Whether the key belongs to the workspace. It then acts for no person; `userId` is the owner of the workspace. */
  isOfWorkspace: boolean;
  /** Null if the key has no scopes, and may do everything that keys may do. */
  scopes: readonly string[] | null;
  /** Set if it is the access token of a connected app, and not a key. `id` and `name` are then those of the app. */
  isApp?: true;
  /** Set if it is an embed token, and not a key: the operations that it allows. `id` is then that of the token. */
  embed?: EmbedScope;
  /** Set if the call came through `/mcp`. */
  via?: 'mcp';
};

/** The signed-in user, the creator of the API key, or the owner of the workspace that the key belongs to. */
export type Caller = {
  userId: number;
  name: string;
  email: string;
  emailVerified: boolean;
  /** Whether only the domain of the address let the user register, and the address is not confirmed yet. */
  awaitsConfirmation: boolean;
  /** Whether the user wants mail about finished recordings. */
  recordingMail: boolean;
  createdAt: Date;
  credential: Credential;
  /** The network address that the call came from; null if the service itself calls. */
  address: string | null;
  /**
   * The workspaces of the caller that require more than the session satisfies. Only found for a call that names no
   * workspace; see `Access` for the others.
   */
  unmetIn: UnmetRequirements;
};

/**
 * A workspace and the caller's role in it; `role` is null if the caller is not a member. `unmet` is what the workspace
 * requires of its members and the session does not satisfy, or null.
 */
export type Access = { workspaceId: number; role: Role | null; unmet: SignInRequirement | null };

/** A member acting in a workspace: the `actor` of all workspace operations. */
export type Actor = {
  userId: number;
  name: string;
  workspaceId: number;
  role: Role;
  /** Null if the service itself acts for the user. */
  credential: Credential | null;
  address: string | null;
};

/** `caller` is null without a valid credential. `access` is null if the workspace does not exist, or none was given. */
export type Identity = {
  caller: Caller | null;
  access: Access | null;
  /** The error to respond with if a valid credential is rejected with a status other than 401. */
  refusal?: AppError;
};

type CallerRow = { [Column in keyof typeof callerColumns]: RowOf<typeof findSession>[Column] };
/** What only the row of a session has. Nobody gets an API key or connects an app before they are admitted. */
type SessionRow = {
  unmet?: SignInRequirement | null;
  unmet_in?: UnmetRequirements | null;
  awaits_confirmation?: boolean;
};

type Dependencies = { db: Database; clock: Clock; log: Log; settings: { sessionIdleDays: number } };

const anonymous: Identity = { caller: null, access: null };

const callerColumns = {
  user_id: int,
  name: text,
  email: text,
  email_verified: bool,
  recording_mail: bool,
  created_at: time,
  credential_id: int,
  workspace_id: nullable(int),
  role: nullable(text),
};

const findSession = statement('find-session', {
  params: { tokenHash: bytes, now: time, idleSince: time, workspaceId: nullable(int) },
  returns: { ...callerColumns, authenticated_at: time, last_used_at: time, awaits_confirmation: bool, ...unmetColumns },
  sql: `
    select u.id as user_id, u.name, u.email, u.email_verified_at is not null as email_verified, u.recording_mail,
      u.created_at, s.id as credential_id, w.id as workspace_id, m.role, s.authenticated_at, s.last_used_at,
      u.admitted_by_domain and u.email_verified_at is null as awaits_confirmation,
      ${unmetBy('s')} as unmet, ${allUnmetBy('s')} as unmet_in
    from sessions s
    join users u on u.id = s.user_id
    left join workspaces w on w.id = $workspaceId
    left join members m on m.workspace_id = w.id and m.user_id = u.id
    where s.token_hash = $tokenHash and s.expires_at > $now and s.last_used_at > $idleSince
      and u.locked_at is null`,
});

/** Only one of several concurrent calls writes. A session that has just ended is not updated. */
const recordSessionUse = statement('record-session-use', {
  params: { id: int, lastUsedAt: time, now: time, address: nullable(text) },
  returns: {},
  sql: `
    update sessions set last_used_at = $now, address = coalesce($address, address)
    where id = $id and last_used_at = $lastUsedAt`,
});

/** How precisely the last use of a session is recorded. */
const SESSION_USE_MS = 5 * MINUTE_MS;

/**
 * Finds the caller with this credential and, in the same query, their access to `workspaceId`. `address` is that of the
 * caller; null if the service itself calls. The use of the credential is recorded unless `isUse` is false.
 */
export async function identify(
  dependencies: Dependencies,
  token: string | null,
  workspaceId: number | null,
  address: string | null,
  { isUse = true }: { isUse?: boolean } = {},
): Promise<Identity> {
  if (token === null) return anonymous;
  if (isToken('lns_', token)) return identifyBySession(dependencies, token, workspaceId, address, isUse);
  if (isToken('lne_', token)) return identifyByEmbedToken(dependencies, token, workspaceId, address);
  if (isApiKey(token)) return identifyByKey(dependencies, token, workspaceId, address, isUse);
  return anonymous;
}

/**
 * Finds the caller with the access token of a connected app, as `identify` does for others, which finds none with such
 * a token. The app has the rights of a key of the person, limited to its scopes.
 */
export async function identifyByApp(dependencies: Dependencies, token: string, call: AppCall): Promise<Identity> {
  const row = isToken('lna_', token) ? await findAppGrant(dependencies, token, call) : undefined;
  if (!row) return anonymous;
  const { credential_id: id, app_name: name, app_workspace_id: workspaceId, scopes } = row;
  const credential = { kind: 'key', isApp: true, id, name, workspaceId, isOfWorkspace: false, scopes } as const;
  return toIdentity(row, credential, call.address);
}

/** A session that was last used at this time, or before, has ended. */
export function idleSince({ sessionIdleDays }: { sessionIdleDays: number }, now: Date): Date {
  return new Date(now.getTime() - sessionIdleDays * DAY_MS);
}

async function identifyBySession(
  dependencies: Dependencies,
  token: string,
  workspaceId: number | null,
  address: string | null,
  isUse: boolean,
): Promise<Identity> {
  const { db, clock, settings } = dependencies;
  const [row] = await db.sql.runShared(findSession, `${token} ${workspaceId}`, () => {
    const now = clock.now();
    return { tokenHash: hashToken(token), now, idleSince: idleSince(settings, now), workspaceId };
  });
  if (!row) return anonymous;
  const now = clock.now();
  if (isUse && now.getTime() - row.last_used_at.getTime() >= SESSION_USE_MS)
    recordUseOfSession(dependencies, { id: row.credential_id, lastUsedAt: row.last_used_at, now, address });
  return toIdentity(row, { kind: 'session', id: row.credential_id, authenticatedAt: row.authenticated_at }, address);
}

/** Writes in the background, so that the request does not wait. */
function recordUseOfSession(
  { db, log }: Dependencies,
  use: { id: number; lastUsedAt: Date; now: Date; address: string | null },
): void {
  runInBackground(() => db.sql.run(recordSessionUse, use)).catch((error: unknown) =>
    log.warn({ err: error }, 'Failed to record the last use of a session'),
  );
}

function toIdentity(row: CallerRow & SessionRow, credential: Credential, address: string | null): Identity {
  return {
    caller: {
      userId: row.user_id,
      name: row.name,
      email: row.email,
      emailVerified: row.email_verified,
      awaitsConfirmation: row.awaits_confirmation ?? false,
      recordingMail: row.recording_mail,
      createdAt: row.created_at,
      credential,
      address,
      unmetIn: row.unmet_in ?? {},
    },
    access:
      row.workspace_id === null
        ? null
        : {
            workspaceId: row.workspace_id,
            role: row.role === null ? null : toRole(row.role),
            unmet: row.unmet ?? null,
          },
  };
}

/** Checks on every call that the key is active, and that the user for whom it acts is still a member. */
async function identifyByKey(
  dependencies: Dependencies,
  token: string,
  workspaceId: number | null,
  address: string | null,
  isUse: boolean,
): Promise<Identity> {
  const row = await findApiKey(dependencies, token, workspaceId, address, isUse);
  if (!row) return anonymous;
  if (!row.is_allowed) return { ...anonymous, refusal: networkNotAllowed(address ?? 'unknown') };
  const credential: KeyCredential = {
    kind: 'key',
    id: row.credential_id,
    name: row.key_name,
    workspaceId: row.key_workspace_id,
    isOfWorkspace: row.is_of_workspace,
    scopes: row.scopes.length === 0 ? null : row.scopes,
  };
  return toIdentity(row, credential, address);
}

/** An embed token works as long as its maker is owner or admin, and the key or app with which it was made works. */
async function identifyByEmbedToken(
  dependencies: Dependencies,
  token: string,
  workspaceId: number | null,
  address: string | null,
): Promise<Identity> {
  const row = await findEmbedToken(dependencies, token, workspaceId);
  if (!row) return anonymous;
  const {
    credential_id: id,
    token_workspace_id: ofToken,
    is_of_workspace: isOfWorkspace,
    kind,
    access,
    label_id,
  } = row;
  const embed = toEmbedScope(kind, access, label_id);
  const name = 'Embed token';
  return toIdentity(row, { kind: 'key', embed, id, name, workspaceId: ofToken, isOfWorkspace, scopes: [] }, address);
}
