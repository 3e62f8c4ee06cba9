/** The connections of a workspace: where meeting providers post what happens in its rooms. */
import type { Actor } from '../../../auth/identify.ts';
import { createLinkToken } from '../../../auth/tokens.ts';
import { lockWorkspaceAs } from '../../../auth/workspace-lock.ts';
import { notFound } from '../../../core/errors.ts';
import { transact } from '../../../db/client.ts';
import type { Services } from '../../../services.ts';
import {
  newStoredCredentials,
  openCredentials,
  readNewCredentials,
  rotateCredentials,
  sealCredentials,
  toProviderKind,
} from './credentials.ts';
import { connectionColumns, toConnection } from './present.ts';
import type {
  ConnectionInput,
  CreateConnectionInput,
  MeetingConnection,
  MeetingConnectionWithSecret,
  RotateConnectionInput,
} from './schemas.ts';

/** All connections of the workspace, oldest first. `origin` is where this service is reached. */
export async function listConnections(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  origin: string,
): Promise<MeetingConnection[]> {
  const rows = await db.meetingConnection.findMany({
    where: { workspaceId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    select: connectionColumns,
  });
  return rows.map((row) => toConnection(row, origin));
}

/**
 * Makes a connection with an address of 192 random bits. Its credentials are kept sealed and never leave again, but for
 * the secret that is made for generic, in this answer. Throws 400 for credentials that are not of the provider's shape,
 * and 403 and 404 for who is not the owner any more, or whose workspace was deleted, since they were let in.
 */
export async function createConnection(
  { db, clock, sealer }: Pick<Services, 'db' | 'clock' | 'sealer'>,
  actor: Actor,
  { name, provider, credentials: given }: CreateConnectionInput,
  origin: string,
): Promise<MeetingConnectionWithSecret> {
  const { workspaceId, userId } = actor;
  const { credentials, secret } = readNewCredentials(provider, given);
  return transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'owner');
    const now = clock.now();
    const row = await tx.meetingConnection.create({
      data: {
        workspaceId,
        ingestId: createLinkToken(),
        name,
        provider,
        sealedCredentials: sealCredentials(sealer, workspaceId, newStoredCredentials(credentials)),
        createdBy: userId,
        createdAt: now,
        updatedAt: now,
      },
      select: connectionColumns,
    });
    return { ...toConnection(row, origin), secret };
  });
}

/**
 * Gives the connection new credentials: those that are given, or for generic a new secret, which is known to the answer
 * alone. The present ones are good for 24 hours more; ones that still were so before are no longer. The address stays.
 * Throws 400 as `createConnection`, 403 and 404.
 */
export async function rotateConnection(
  { db, clock, sealer }: Pick<Services, 'db' | 'clock' | 'sealer'>,
  actor: Actor,
  { connectionId, credentials: given }: RotateConnectionInput,
  origin: string,
): Promise<MeetingConnectionWithSecret> {
  const { workspaceId } = actor;
  const where = { workspaceId_id: { workspaceId, id: connectionId } };
  return transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'owner');
    const known = await tx.meetingConnection.findUnique({
      where,
      select: { provider: true, sealedCredentials: true },
    });
    if (known === null) throw notFound('Connection');
    const { credentials, secret } = readNewCredentials(toProviderKind(known.provider), given);
    const now = clock.now();
    const kept = rotateCredentials(openCredentials(sealer, workspaceId, known.sealedCredentials), credentials, now);
    const row = await tx.meetingConnection.update({
      where,
      data: { sealedCredentials: sealCredentials(sealer, workspaceId, kept), updatedAt: now },
      select: connectionColumns,
    });
    return { ...toConnection(row, origin), secret };
  });
}

/**
 * Deletes a connection with what it has received; its address answers 404 from then on. What came of the callbacks so
 * far stays. Throws 403 and 404.
 */
export async function deleteConnection(
  { db }: Pick<Services, 'db'>,
  actor: Actor,
  { connectionId }: ConnectionInput,
): Promise<{ ok: true }> {
  const { count } = await transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'owner');
    return tx.meetingConnection.deleteMany({ where: { workspaceId: actor.workspaceId, id: connectionId } });
  });
  if (count === 0) throw notFound('Connection');
  return { ok: true };
}
