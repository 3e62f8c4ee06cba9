/**
 * The delivery worker: leases due jobs, attempts to deliver their messages, and passes the attempts to the recorder.
 * Any number of processes may run one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sealer } from '../core/sealing.ts';
import { SAFETY_POLL_MS } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { int, ints, statement, texts } from '../db/statements.ts';
import { startPollLoop } from '../jobs/poll-loop.ts';
import { type AttemptRecorder, startAttemptRecorder } from './attempt-recorder.ts';
import { demoteMessages } from './demote-messages.ts';
import { dropJobs } from './drop-jobs.ts';
import { createFairSlots, type FairSlots } from './fair-slots.ts';
import { createHostLimits, type HostLimitSettings, type HostLimits, toHost } from './host-limits.ts';
import { type Leases, startLeases } from './leases.ts';
import { type LeasedMessage, loadMessages } from './load-messages.ts';
import type { DeliveryQueue, Lane, WebhookRef } from './queue.ts';
import { recordAttempts } from './record-attempts.ts';
import { type Attempt, type SendingServices, sendMessage } from './send-message.ts';
import { createKeyRing } from './signing-keys.ts';
import { createSlowLanePacing } from './slow-lane-pacing.ts';
import { triage } from './triage.ts';

export type DeliveryWorkerOptions = Omit<SendingServices, 'openKey'> & {
  db: Database;
  sealer: Sealer;
  queue: DeliveryQueue;
  /** Maximum number of requests at a time. */
  maxInFlight: number;
  /** Default: no limits. */
  hostLimits?: HostLimitSettings;
  /** Called with each attempt that has ended. */
  onAttempt?: ((attempt: Attempt) => void) | undefined;
};

export type DeliveryWorker = {
  /** Looks for due jobs now. */
  wake(): void;
  /** Stops leasing jobs, and resolves when the attempts in flight are recorded. */
  stop(): Promise<void>;
};

type WorkerParts = DeliveryWorkerOptions &
  SendingServices & {
    slots: FairSlots;
    hosts: HostLimits;
    leases: Leases;
    recorder: AttemptRecorder;
  };

/**
 * The share of a workspace is only enforced between polls, so a workspace can exceed it by this many. With the default
 * number of slots, some are left for others even if three workspaces do so.
 */
const MAX_LEASES_PER_POLL = 50;
/**
 * How many attempts may wait to be recorded, besides those in flight. While a transaction records a batch, requests
 * continue. The next transaction records all that have ended in the meantime.
 */
const MAX_UNRECORDED = 200;
/** If fewer slots than this are free, a poll first waits `COLLECT_MS` for more, so that one query fills several. */
const MIN_FREE_SLOTS = 32;
const COLLECT_MS = 5;
/** The pause if jobs are due that cannot be leased now, because of a limit. */
const MIN_PAUSE_MS = 500;
/** Other workers repeat the attempts that cannot be recorded within this time. */
const STOP_TIMEOUT_MS = 20_000;

export function startDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { db, clock, log, queue, maxInFlight } = options;
  const slots = createFairSlots(maxInFlight);
  const hosts = createHostLimits(options.hostLimits ?? { maxInFlight: 0, perSecond: 0 });
  const leases = startLeases({ queue, slots, onRelease: () => loop.wake(), log });
  const recorder = startAttemptRecorder({
    record: (attempts, mayBeRecorded) => recordAttempts({ db, queue }, clock.now(), attempts, mayBeRecorded),
    onRecorded: (attempts) => leases.release(attempts.map(({ lease }) => lease)),
    log,
  });
  const parts: WorkerParts = { ...options, openKey: createKeyRing(options.sealer), slots, hosts, leases, recorder };
  const slowLane = createSlowLanePacing();

  const loop = startPollLoop({
    name: 'deliver messages',
    async poll() {
      if (slots.countFree('fast') < MIN_FREE_SLOTS) await sleep(COLLECT_MS);
      const fast = await pollLane(parts, 'fast');
      const waitMs = slowLane.waitMs();
      if (waitMs > 0) return fast > 0 ? 0 : waitMs;
      const slow = await slowLane.run(() => pollLane(parts, 'slow'));
      if (fast + slow > 0) return 0;
      const nextMs = (await queue.findNextDue()) ?? SAFETY_POLL_MS;
      return Math.min(Math.max(nextMs, MIN_PAUSE_MS), SAFETY_POLL_MS);
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
  const { db, queue, maxInFlight, slots, hosts, leases } = parts;
  const max = Math.min(slots.countFree(lane), maxInFlight + MAX_UNRECORDED - leases.count(), MAX_LEASES_PER_POLL);
  if (max <= 0) return 0;
  const leased = leases.add(await queue.lease(db.sql, lane, max, await findExcluded(db, slots, hosts)), lane);
  if (leased.length === 0) return 0;
  const messages = await loadMessages(db.sql, leased).catch((error: unknown) => {
    leases.release(leased);
    throw error;
  });
  const { due, misplaced, obsolete } = triage(leased, messages, lane);
  const refused = due.filter((leased) => !startAttempt(parts, leased)).map(({ lease }) => lease);
  try {
    if (obsolete.length > 0) await dropJobs(parts, obsolete);
    if (misplaced.length > 0) await demoteMessages(db, queue, misplaced);
    if (refused.length > 0) await queue.putBack(refused);
  } finally {
    leases.release([...obsolete, ...misplaced.map(({ lease }) => lease), ...refused]);
  }
  return leased.length;
}

const findWebhooks = statement('find-excluded-webhooks', {
  params: { workspaceIds: ints, hosts: texts },
  returns: { workspaceId: int, webhookId: int },
  sql: `
    select workspace_id as "workspaceId", id as "webhookId" from webhooks where workspace_id = any($workspaceIds)
    union
    select w.workspace_id, w.id from webhooks w
    where w.host = any($hosts) and exists
      (select from webhook_messages m
       where m.workspace_id = w.workspace_id and m.webhook_id = w.id and m.status = 'waiting')`,
});

/** Returns the webhooks of the workspaces that have used up their slots, and of the hosts that are full. */
async function findExcluded(db: Database, slots: FairSlots, hosts: HostLimits): Promise<WebhookRef[]> {
  const workspaceIds = slots.fullWorkspaces();
  const full = hosts.findFull();
  if (workspaceIds.length === 0 && full.hosts.length === 0) return [];
  const rows = await db.sql.run(findWebhooks, { workspaceIds, hosts: full.hosts });
  return [...rows, ...full.webhooks];
}

/**
 * Starts an attempt, which is passed to the recorder when it ends. Returns false if the limit of the host is reached.
 */
function startAttempt(parts: WorkerParts, leased: LeasedMessage): boolean {
  const { hosts, leases, recorder, onAttempt } = parts;
  const host = toHost(leased.message.url);
  if (!hosts.start(host, leased.message)) return false;
  void sendMessage(parts, leased).then((attempt) => {
    hosts.end(host);
    leases.endRequest(attempt.lease);
    recorder.add(attempt);
    onAttempt?.(attempt);
  });
  return true;
}
