/** Applies the events of stored callbacks to rooms, participants and recordings. */
import { lockWorkspaceIfExists } from '../../../auth/workspace-lock.ts';
import type { Log } from '../../../core/log.ts';
import { transact } from '../../../db/client.ts';
import type { Services } from '../../../services.ts';
import type { ProviderEvent } from '../adapters/provider-event.ts';
import type { ApplyContext } from './apply-context.ts';
import { applyParticipantEvent } from './apply-participant-event.ts';
import { applyRecordingEvent } from './apply-recording-event.ts';
import { type CallbackKey, lockPendingCallback, markApplied, takePendingCallbacks } from './callback-store.ts';
import { endMeeting } from './end-meeting.ts';

const MAX_PER_RUN = 1_000;

type Needs = Pick<Services, 'db' | 'clock' | 'log' | 'sealer' | 'settings'>;

/**
 * Applies all events of a callback and marks the callback as applied, in one transaction. Does nothing if the callback
 * has already been applied, is being applied, or has been deleted.
 */
export function applyCallback(
  { db, clock, sealer, settings }: Pick<Services, 'db' | 'clock' | 'sealer' | 'settings'>,
  key: CallbackKey,
): Promise<void> {
  const { workspaceId, connectionId } = key;
  return transact(db, async (tx) => {
    // This lock protects every row that an event changes. If the workspace has been deleted, its callbacks have been
    // deleted too.
    if ((await lockWorkspaceIfExists(tx, workspaceId)) === null) return;
    const events = await lockPendingCallback(tx, sealer, key);
    if (events === null) return;
    const now = clock.now();
    const context = { tx, now, sealer, quotas: settings.quotas };
    for (const event of events) await applyEvent({ ...context, workspaceId, connectionId }, event);
    await markApplied(tx, key, now);
  });
}

/**
 * Applies one event. Events may arrive late, more than once and in any order; the resulting rows and emitted events are
 * always the same. An event that matches no room, recording or participant changes nothing, and is stored so that the
 * owner can see it.
 */
export function applyEvent(context: ApplyContext, event: ProviderEvent): Promise<void> {
  if ('archiveId' in event) return applyRecordingEvent(context, event);
  if ('participantReference' in event) return applyParticipantEvent(context, event);
  return endMeeting(context, event);
}

/**
 * Applies up to `max` pending callbacks, starting with the least recently tried. Logs a failure and continues with the
 * next callback.
 */
export async function applyPendingCallbacks(services: Needs, max = MAX_PER_RUN): Promise<void> {
  for (const key of await takePendingCallbacks(services, max))
    await applyCallback(services, key).catch((error: unknown) => logFailure(services.log, key, error));
}

export function logFailure(log: Log, { workspaceId, connectionId }: CallbackKey, error: unknown): void {
  log.error({ err: error, workspaceId, connectionId }, 'Failed to apply a callback; it will be retried');
}
