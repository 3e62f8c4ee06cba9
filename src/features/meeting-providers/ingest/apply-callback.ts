/** Applies the events of stored callbacks to rooms, participants and recordings. */
import { lockWorkspaceIfExists } from '../../../auth/workspace-lock.ts';
import type { Log } from '../../../core/log.ts';
import type { Sealer } from '../../../core/sealing.ts';
import { type Tx, transact } from '../../../db/client.ts';
import type { Services } from '../../../services.ts';
import type { ProviderEvent, RoomReference } from '../adapters/provider-event.ts';
import { applyParticipantEvent } from './apply-participant-event.ts';
import { applyRecordingEvent } from './apply-recording-event.ts';
import { type CallbackKey, lockPendingCallback, markApplied, takePendingCallbacks } from './callback-store.ts';

const MAX_PER_RUN = 1_000;

type Needs = Pick<Services, 'db' | 'clock' | 'log' | 'sealer'>;

/** `tx` holds the lock of the workspace. `now` is when the event is applied, not when it happened. */
export type ApplyContext = {
  tx: Tx;
  now: Date;
  log: Log;
  sealer: Sealer;
  workspaceId: number;
  connectionId: number;
};

/**
 * Applies all events of a callback and marks it applied, in one transaction. Does nothing if the callback has been
 * applied, is being applied, or has been deleted.
 */
export function applyCallback({ db, clock, log, sealer }: Needs, key: CallbackKey): Promise<void> {
  const { workspaceId, connectionId } = key;
  return transact(db, async (tx) => {
    // This lock protects every row that an event changes. If the workspace was deleted, so were its callbacks.
    if ((await lockWorkspaceIfExists(tx, workspaceId)) === null) return;
    const events = await lockPendingCallback(tx, sealer, key);
    if (events === null) return;
    const now = clock.now();
    for (const event of events) await applyEvent({ tx, now, log, sealer, workspaceId, connectionId }, event);
    await markApplied(tx, key, now);
  });
}

/**
 * Applies one event. Events may arrive late, more than once and in any order: the resulting rows and emitted events are
 * the same. An event for a room that the workspace does not have changes nothing.
 */
export async function applyEvent(context: ApplyContext, event: ProviderEvent): Promise<void> {
  const { tx, now, log, sealer, workspaceId, connectionId } = context;
  const roomId = await findRoomId(tx, workspaceId, event.room);
  if (roomId === null) {
    log.debug({ workspaceId, kind: event.kind }, 'Ignored a callback for an unknown room');
    return;
  }
  if ('archiveId' in event) await applyRecordingEvent({ tx, now, sealer }, { workspaceId, roomId }, event);
  else await applyParticipantEvent(tx, { workspaceId, roomId, connectionId }, event);
}

async function findRoomId(tx: Tx, workspaceId: number, reference: RoomReference): Promise<number | null> {
  const identifier = reference.kind === 'name' ? { name: reference.name } : { sessionId: reference.sessionId };
  const room = await tx.room.findFirst({ where: { workspaceId, ...identifier }, select: { id: true } });
  return room?.id ?? null;
}

/** Applies up to `max` pending callbacks, the least recently tried ones first. Logs a failure and continues. */
export async function applyPendingCallbacks(services: Needs, max = MAX_PER_RUN): Promise<void> {
  for (const key of await takePendingCallbacks(services, max))
    await applyCallback(services, key).catch((error: unknown) => logFailure(services.log, key, error));
}

export function logFailure(log: Log, { workspaceId, connectionId }: CallbackKey, error: unknown): void {
  log.error({ err: error, workspaceId, connectionId }, 'Failed to apply a callback; it will be retried');
}
