/** The connections of a workspace. Meeting providers use them to report events in its rooms. */
import { type NewAuditEntry, recordAudit } from '../../../audit/record-audit.ts';
import { auditActorOf } from '../../../auth/audit-actor.ts';
import type { Actor } from '../../../auth/identify.ts';
import { createLinkToken } from '../../../auth/tokens.ts';
import { lockWorkspaceAs } from '../../../auth/workspace-lock.ts';
import { conflict, notFound } from '../../../core/errors.ts';
import type { ListPageInput, Page } from '../../../core/list-page.ts';
import { transact } from '../../../db/client.ts';
import { secondsOf } from '../../../db/columns.ts';
import { isUniqueViolation } from '../../../db/errors.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../../db/pages.ts';
import { sqlIn } from '../../../db/sql.ts';
import { float, int, nullable, oneOf, statement, text } from '../../../db/statements.ts';
import { requireFreeRow } from '../../../quotas/quotas.ts';
import type { Services } from '../../../services.ts';
import { toMediaOrigin } from '../../livekit/connection.ts';
import { type ProviderKind, toProviderKind } from '../adapters/index.ts';
import { openCredentials, readNewCredentials, rotateCredentials, sealCredentials } from './credentials.ts';
import { connectionColumns, toConnection } from './present.ts';
import type {
  ConnectionInput,
  CreateConnectionInput,
  MeetingConnection,
  MeetingConnectionWithSecret,
  RotateConnectionInput,
} from './schemas.ts';

const connectionsOf = pagedList('list-connections', {
  order: byTime('c.created_at', 'id', 'asc'),
  params: { workspaceId: int, origin: text },
  returns: {
    id: int,
    workspace_id: int,
    name: text,
    provider: oneOf<ProviderKind>(),
    ingest_url: text,
    media_url: nullable(text),
    created_by: nullable(int),
    created_at: float,
    updated_at: float,
    last_event_at: nullable(float),
    ...timeKey,
  },
  sql: ({ after, window }) => `
    select id, workspace_id, name, provider, $origin || '/api/ingest/' || ingest_id as ingest_url,
      media_origin as media_url, created_by,
      ${secondsOf('c.created_at')} as created_at, ${secondsOf('updated_at')} as updated_at,
      ${secondsOf('last_event_at')} as last_event_at, ${timeKeyOf('c.created_at')}
    from meeting_connections c
    where workspace_id = $workspaceId ${after} ${window}`,
});

/** Lists the connections of the workspace, oldest first. `origin` is the origin of their `ingest_url`. */
export function listConnections(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  page: ListPageInput,
  origin: string,
): Promise<Page<MeetingConnection>> {
  return readPage(db.sql, connectionsOf, { workspaceId, origin }, page, [workspaceId]);
}

/**
 * Creates a connection whose URL contains 192 random bits. The credentials are stored sealed and are never returned.
 * The only exception is the secret that the service creates for the `generic` provider: it is returned here. Throws 400
 * if the credentials do not match the provider's schema, 403 if the actor is no longer the owner, 404 if the workspace
 * has been deleted, and 409 if the workspace has reached its quota, or already has a connection that carries the media.
 */
export async function createConnection(
  services: Pick<Services, 'db' | 'clock' | 'sealer' | 'settings' | 'addressGuard'>,
  actor: Actor,
  { name, provider, credentials: sent }: CreateConnectionInput,
  origin: string,
): Promise<MeetingConnectionWithSecret> {
  const { db, clock, sealer, settings } = services;
  const { workspaceId, userId } = actor;
  const { credentials, url, secret } = readNewCredentials(provider, sent);
  const mediaOrigin = url === undefined ? null : await toMediaOrigin(services, url);
  return transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'owner');
    await requireFreeRow(tx, settings.quotas, 'connections', workspaceId);
    const now = clock.now();
    const row = await tx.meetingConnection.create({
      data: {
        workspaceId,
        ingestId: createLinkToken(),
        name,
        provider,
        sealedCredentials: sealCredentials(sealer, workspaceId, { current: credentials, previous: null }),
        mediaOrigin,
        createdBy: userId,
        createdAt: now,
        updatedAt: now,
      },
      select: connectionColumns,
    });
    await recordAudit(tx, entryOf(actor, now, 'connection.created', row));
    return { ...toConnection(row, origin), secret };
  }).catch(rethrowMediaConflict);
}

function rethrowMediaConflict(error: unknown): never {
  if (isUniqueViolation(error)) throw conflict('Another connection already carries the media of the workspace');
  throw error;
}

/**
 * Replaces the credentials of a connection with those in the input or, for the `generic` provider, with a new secret,
 * which is returned only here. The replaced credentials stay valid for 24 hours; older ones become invalid immediately.
 * The URL of the callbacks does not change, and that of a LiveKit server only if the input has another one. Throws 400,
 * 403, 404 and 409, like `createConnection`.
 */
export async function rotateConnection(
  services: Pick<Services, 'db' | 'clock' | 'sealer' | 'addressGuard'>,
  actor: Actor,
  { connectionId, credentials: sent }: RotateConnectionInput,
  origin: string,
): Promise<MeetingConnectionWithSecret> {
  const { db, clock, sealer } = services;
  const { workspaceId } = actor;
  const where = { workspaceId_id: { workspaceId, id: connectionId } };
  const found = await db.meetingConnection.findUnique({ where, select: { provider: true } });
  if (found === null) throw notFound('Connection');
  const { credentials, url, secret } = readNewCredentials(toProviderKind(found.provider), sent);
  const mediaOrigin = url === undefined ? undefined : await toMediaOrigin(services, url);
  return transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'owner');
    const connection = await tx.meetingConnection.findUnique({
      where,
      select: { sealedCredentials: true },
    });
    if (connection === null) throw notFound('Connection');
    const now = clock.now();
    const current = openCredentials(sealer, workspaceId, connection.sealedCredentials);
    const rotated = rotateCredentials(current, credentials, now);
    const row = await tx.meetingConnection.update({
      where,
      data: {
        sealedCredentials: sealCredentials(sealer, workspaceId, rotated),
        ...(mediaOrigin !== undefined && { mediaOrigin }),
        updatedAt: now,
      },
      select: connectionColumns,
    });
    await recordAudit(tx, entryOf(actor, now, 'connection.rotated', row));
    return { ...toConnection(row, origin), secret };
  }).catch(rethrowMediaConflict);
}

const deleteStatement = statement('delete-connection', {
  params: { workspaceId: int, connectionId: int },
  returns: { id: int, name: text, provider: text },
  sql: `
    delete from meeting_connections where workspace_id = $workspaceId and id = $connectionId
    returning id, name, provider`,
});

/**
 * Deletes a connection and its stored callbacks. Requests to its URL then get 404. Participants and recordings that the
 * provider reported are not deleted. Throws 403 and 404.
 */
export async function deleteConnection(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { connectionId }: ConnectionInput,
): Promise<{ ok: true }> {
  await transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'owner');
    const [deleted] = await sqlIn(tx).run(deleteStatement, { workspaceId: actor.workspaceId, connectionId });
    if (!deleted) throw notFound('Connection');
    await recordAudit(tx, entryOf(actor, clock.now(), 'connection.deleted', deleted));
  });
  return { ok: true };
}

function entryOf(
  actor: Actor,
  at: Date,
  action: 'connection.created' | 'connection.rotated' | 'connection.deleted',
  { id, name, provider }: { id: number; name: string; provider: string },
): NewAuditEntry {
  const { workspaceId } = actor;
  const target = { kind: 'connection', id, name } as const;
  return { workspaceId, at, actor: auditActorOf(actor), action, target, after: { provider } };
}
