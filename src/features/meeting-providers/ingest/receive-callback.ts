/** A provider's callback as it arrives: find the connection, verify the signature, store the callback, apply it. */
import { isLinkToken } from '../../../auth/tokens.ts';
import { serviceUnavailable } from '../../../core/errors.ts';
import { createKeyedSemaphore } from '../../../core/semaphore.ts';
import type { Services } from '../../../services.ts';
import { type ProviderKind, providers, toProviderKind } from '../adapters/index.ts';
import { type Callback, UnverifiedCallback, type VerifiedCallback } from '../adapters/provider-adapter.ts';
import { openCredentials, validCredentials } from '../connections/credentials.ts';
import { applyCallback, logFailure } from './apply-callback.ts';
import { storeCallback } from './callback-store.ts';

/** Per workspace and process: less than half of the default number of database connections. */
const MAX_CONCURRENT = 4;
/** A longer queue would take more time than providers wait for a response. */
const MAX_QUEUED = 100;
/** Longer than a full queue takes to empty. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Limits the callbacks of one workspace, so that other workspaces still get database connections. The limit is per
 * workspace and not per connection, because a workspace may have any number of connections. More than four at once
 * would hardly be faster: callbacks are stored in parallel, but each locks the workspace while it is applied.
 */
const callbackQueue = createKeyedSemaphore<number>(MAX_CONCURRENT, {
  maxQueued: MAX_QUEUED,
  queueFull: () => serviceUnavailable('Too many callbacks at once: try again in a moment', RETRY_AFTER_SECONDS),
});

export type FoundConnection = {
  workspaceId: number;
  id: number;
  provider: ProviderKind;
  sealedCredentials: Uint8Array;
};

/** Returns the connection whose `ingest_url` ends with `ingestId`, or null. */
export async function findConnection({ db }: Pick<Services, 'db'>, ingestId: string): Promise<FoundConnection | null> {
  if (!isLinkToken(ingestId)) return null;
  const row = await db.meetingConnection.findUnique({
    where: { ingestId },
    select: { workspaceId: true, id: true, provider: true, sealedCredentials: true },
  });
  return row && { ...row, provider: toProviderKind(row.provider) };
}

/**
 * Verifies, stores and applies a callback. When this resolves, the callback is stored; one that was stored before
 * changes nothing. A callback that cannot be applied now is logged, and `applyPendingCallbacks` tries it again.
 *
 * Throws UnverifiedCallback (401), MalformedCallback (400), 404 "Connection not found" if the connection has been
 * deleted, and 503 if too many callbacks of the workspace are waiting.
 */
export async function receiveCallback(
  services: Pick<Services, 'db' | 'clock' | 'log' | 'sealer' | 'settings'>,
  connection: FoundConnection,
  callback: Callback,
): Promise<void> {
  const { workspaceId, id: connectionId } = connection;
  // Verified before queueing, so that only a caller with a valid signature can fill the workspace's queue.
  const verified = await verify(services, connection, callback);
  await callbackQueue.run(workspaceId, async () => {
    const key = { workspaceId, connectionId, dedupeKey: verified.dedupeKey };
    if (!(await storeCallback(services, key, verified.events))) return;
    await applyCallback(services, key).catch((error: unknown) => logFailure(services.log, key, error));
  });
}

/** Verifies with the current credentials, then with the previous ones while they are valid. */
async function verify(
  { clock, sealer }: Pick<Services, 'clock' | 'sealer'>,
  { workspaceId, provider, sealedCredentials }: FoundConnection,
  callback: Callback,
): Promise<VerifiedCallback> {
  const now = clock.now();
  const [current = {}, previous] = validCredentials(openCredentials(sealer, workspaceId, sealedCredentials), now);
  const { readAndVerify } = providers[provider];
  try {
    return await readAndVerify(callback, current, now);
  } catch (error) {
    if (previous === undefined || !(error instanceof UnverifiedCallback)) throw error;
    return await readAndVerify(callback, previous, now);
  }
}
