/**
 * Receives a provider's callback: finds the connection, verifies the signature, then stores and applies the callback.
 */
import { isLinkToken } from '../../../auth/tokens.ts';
import { serviceUnavailable } from '../../../core/errors.ts';
import { createLimiter } from '../../../core/limiter.ts';
import type { Services } from '../../../services.ts';
import { type ProviderKind, providers, toProviderKind } from '../adapters/index.ts';
import { type Callback, UnverifiedCallback, type VerifiedCallback } from '../adapters/provider-adapter.ts';
import { openCredentials, validCredentials } from '../connections/credentials.ts';
import { applyCallback, logFailure } from './apply-callback.ts';
import { storeCallback } from './callback-store.ts';

/** The limit per workspace and process. It is less than half of the default number of database connections. */
const MAX_CONCURRENT = 4;
/** In a longer queue, callbacks would wait longer than providers wait for a response. */
const MAX_QUEUED = 100;
/** Longer than it takes to empty a full queue. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Limits concurrent callbacks of one workspace, so that other workspaces still get database connections. The limit
 * applies to the workspace rather than the connection, because a workspace may have many connections. A higher limit
 * would hardly help: callbacks are stored in parallel, but applying a callback locks the workspace.
 */
const callbackQueue = createLimiter<number>({
  maxPerKey: MAX_CONCURRENT,
  maxQueued: Number.POSITIVE_INFINITY,
  maxQueuedPerKey: MAX_QUEUED,
  full: () => serviceUnavailable('Too many concurrent callbacks: try again in a moment', RETRY_AFTER_SECONDS),
});

export type FoundConnection = {
  workspaceId: number;
  id: number;
  provider: ProviderKind;
  sealedCredentials: Uint8Array;
};

/** Returns the connection whose `ingest_url` ends with `ingestId`, or null if there is none. */
export async function findConnection({ db }: Pick<Services, 'db'>, ingestId: string): Promise<FoundConnection | null> {
  if (!isLinkToken(ingestId)) return null;
  const row = await db.meetingConnection.findUnique({
    where: { ingestId },
    select: { workspaceId: true, id: true, provider: true, sealedCredentials: true },
  });
  return row && { ...row, provider: toProviderKind(row.provider) };
}

/**
 * Verifies, stores and applies a callback. When the promise resolves, the callback is stored. If applying the callback
 * fails, the error is logged, and `applyPendingCallbacks` applies the callback later. A repeated callback changes
 * nothing.
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
  // The signature is verified before queueing, so that only callers with a valid signature can fill the workspace's
  // queue.
  const verified = await verify(services, connection, callback);
  await callbackQueue.run(workspaceId, async () => {
    const key = { workspaceId, connectionId, dedupeKey: verified.dedupeKey };
    if (!(await storeCallback(services, key, verified.events))) return;
    await applyCallback(services, key).catch((error: unknown) => logFailure(services.log, key, error));
  });
}

/** Verifies with the current credentials and, while they are still valid, with the previous ones. */
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
