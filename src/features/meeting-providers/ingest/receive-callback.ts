/** A provider's callback on its way in: verified, stored once, then applied. */
import { notFound } from '../../../core/errors.ts';
import { transact } from '../../../db/client.ts';
import type { Services } from '../../../services.ts';
import { UnverifiedCallback } from '../adapters/errors.ts';
import type { Callback, VerifiedCallback } from '../adapters/facts.ts';
import { providers } from '../adapters/index.ts';
import { goodCredentials, openCredentials } from '../connections/credentials.ts';
import { applyEvent } from './apply-events.ts';
import { queueCallback } from './callback-queue.ts';
import type { FoundConnection } from './find-connection.ts';
import { keepFacts } from './sealed-facts.ts';

/**
 * Takes a callback in. When it resolves the callback is stored; one that was stored before changes nothing. It is also
 * applied, unless that failed: that is logged, and repeated by `applyUnapplied`. Throws UnverifiedCallback (401),
 * MalformedCallback (400), 404 "Connection not found" for one that was deleted meanwhile, and SERVICE_UNAVAILABLE (503)
 * where too many of the workspace's wait.
 */
export async function receiveCallback(
  services: Pick<Services, 'db' | 'clock' | 'log' | 'sealer'>,
  connection: FoundConnection,
  callback: Callback,
): Promise<void> {
  const { workspaceId, id: connectionId } = connection;
  // Verified first: who cannot sign takes nobody's place in the line.
  const verified = await verify(services, connection, callback);
  await queueCallback(workspaceId, async () => {
    if (!(await storeCallback(services, connection, verified))) return;
    const event = { workspaceId, connectionId, dedupeKey: verified.dedupeKey };
    await applyEvent(services, event).catch((error: unknown) =>
      services.log.error(
        { err: error, workspaceId, connectionId },
        'A callback could not be applied: it is tried again',
      ),
    );
  });
}

/** Verifies by the present credentials, else by those before the last rotation while they are good. */
async function verify(
  { clock, sealer }: Pick<Services, 'clock' | 'sealer'>,
  { workspaceId, provider, sealedCredentials }: FoundConnection,
  callback: Callback,
): Promise<VerifiedCallback> {
  const now = clock.now();
  const [current = {}, previous] = goodCredentials(openCredentials(sealer, workspaceId, sealedCredentials), now);
  const { readAndVerify } = providers[provider];
  try {
    return await readAndVerify(callback, current, now);
  } catch (error) {
    if (previous === undefined || !(error instanceof UnverifiedCallback)) throw error;
    return await readAndVerify(callback, previous, now);
  }
}

/** Stores a callback that is new; false: it was stored before, and nothing is changed. */
function storeCallback(
  { db, clock, sealer }: Pick<Services, 'db' | 'clock' | 'sealer'>,
  { workspaceId, id: connectionId }: FoundConnection,
  { dedupeKey, facts }: VerifiedCallback,
): Promise<boolean> {
  return transact(db, async (tx) => {
    // Its row first: who deletes it waits then, and does not meet us half-way.
    const locked = await tx.$queryRaw<unknown[]>`
      select 1 from meeting_connections where workspace_id = ${workspaceId} and id = ${connectionId} for no key update`;
    if (locked.length === 0) throw notFound('Connection');
    const now = clock.now();
    const { count } = await tx.ingestEvent.createMany({
      data: [{ workspaceId, connectionId, dedupeKey, facts: keepFacts(sealer, workspaceId, facts), receivedAt: now }],
      skipDuplicates: true,
    });
    if (count === 1) {
      await tx.$executeRaw`
        update meeting_connections set last_event_at = ${now}
        where workspace_id = ${workspaceId} and id = ${connectionId}`;
    }
    return count === 1;
  });
}
