/**
 * The delivery worker: leases due jobs, attempts to deliver their messages, and passes the attempts to the recorder.
 * Any number of processes may run one.
 */
import { type Database, transact } from '../db/client.ts';
import { startPollLoop } from '../jobs/poll-loop.ts';
import { type AttemptRecorder, startAttemptRecorder } from './attempt-recorder.ts';
import { demoteMessages } from './demote-messages.ts';
import { createFairSlots, type FairSlots } from './fair-slots.ts';
import { type Leases, startLeases } from './leases.ts';
import { loadMessages } from './load-messages.ts';
import { cancelIfUnwanted } from './pending-messages.ts';
import type { DeliveryQueue, Lane, Lease, WebhookRef } from './queue.ts';
import { recordAttempts } from './record-attempts.ts';
import { type SendingServices, sendMessage } from './send-message.ts';
import { createSlowLanePacing } from './slow-lane-pacing.ts';
import { triage } from './triage.ts';

export type DeliveryWorkerOptions = SendingServices & {
  db: Database;
  queue: DeliveryQueue;
  /** Maximum number of attempts that are in flight or not recorded yet. */
  maxInFlight: number;
};

export type DeliveryWorker = {
  /** Looks for due jobs now. */
  wake(): void;
  /** Stops leasing jobs, and resolves when the attempts in flight are recorded. */
  stop(): Promise<void>;
};

type WorkerParts = DeliveryWorkerOptions & { slots: FairSlots; leases: Leases; recorder: AttemptRecorder };

/** Small, because a workspace's share of the slots is only enforced between polls. */
const MAX_LEASES_PER_POLL = 20;
/** Retries become due without a notification. */
const POLL_EVERY_MS = 500;
/** Other workers repeat the attempts that cannot be recorded within this time. */
const STOP_TIMEOUT_MS = 20_000;

export function startDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { db, clock, log, queue, maxInFlight } = options;
  const slots = createFairSlots(maxInFlight);
  const leases = startLeases({ queue, slots, onRelease: () => loop.wake(), log });
  const recorder = startAttemptRecorder({
    record: (attempts, mayBeRecorded) => recordAttempts({ db, queue }, clock.now(), attempts, mayBeRecorded),
    onRecorded: (attempts) => leases.release(attempts.map(({ lease }) => lease)),
    log,
  });
  const parts: WorkerParts = { ...options, slots, leases, recorder };
  const slowLane = createSlowLanePacing();

  const loop = startPollLoop({
    name: 'deliver messages',
    async poll() {
      const fast = await pollLane(parts, 'fast');
      const waitMs = slowLane.waitMs();
      if (waitMs > 0) return fast > 0 ? 0 : waitMs;
      const slow = await slowLane.run(() => pollLane(parts, 'slow'));
      return fast + slow > 0 ? 0 : POLL_EVERY_MS;
    },
    log,
  });

  return {
    wake: loop.wake,
    async stop() {
      await loop.stop();
      await leases.drain(STOP_TIMEOUT_MS);
      await recorder.stop();
      await leases.stop();
    },
  };
}

/** Leases due jobs of a lane and starts the attempts. Resolves with the number of jobs. */
async function pollLane(parts: WorkerParts, lane: Lane): Promise<number> {
  const { db, queue, slots, leases, recorder } = parts;
  const max = Math.min(slots.countFree(lane), MAX_LEASES_PER_POLL);
  if (max <= 0) return 0;
  const leased = await queue.lease(lane, max, await findWebhooks(db, slots.fullWorkspaces()));
  if (leased.length === 0) return 0;
  leases.add(leased, lane);
  const messages = await loadMessages(db, leased).catch((error: unknown) => {
    leases.release(leased);
    throw error;
  });
  const { due, misplaced, obsolete } = triage(leased, messages, lane);
  for (const one of due) void sendMessage(parts, one).then(recorder.add);
  try {
    if (obsolete.length > 0) await dropJobs(parts, obsolete);
    if (misplaced.length > 0) await demoteMessages(db, queue, misplaced);
  } finally {
    leases.release([...obsolete, ...misplaced.map(({ lease }) => lease)]);
  }
  return leased.length;
}

async function findWebhooks(db: Database, workspaceIds: readonly number[]): Promise<WebhookRef[]> {
  if (workspaceIds.length === 0) return [];
  const rows = await db.webhook.findMany({
    where: { workspaceId: { in: [...workspaceIds] } },
    select: { workspaceId: true, id: true },
  });
  return rows.map(({ workspaceId, id }) => ({ workspaceId, webhookId: id }));
}

/** Completes jobs that send nothing, and cancels those of their messages that their webhook no longer wants. */
function dropJobs({ db, clock, queue }: WorkerParts, leases: readonly Lease[]): Promise<void> {
  return transact(db, async (tx) => {
    const jobs = leases.map(({ id, data }) => ({ id, ...data }));
    await cancelIfUnwanted(tx, clock.now(), jobs);
    await queue.complete(tx, leases);
  });
}
