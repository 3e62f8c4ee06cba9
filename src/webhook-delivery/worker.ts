/**
 * Claims due attempts, makes them, and records them in batches. Any number of processes may; a claim belongs to one of them,
 * which says by heartbeats that it lives.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, transact } from '../db/client.ts';
import { type PollLoop, startPollLoop } from '../jobs/poll-loop.ts';
import { createPlaces } from './concurrency.ts';
import { moveToSlowLane } from './demote.ts';
import { isCurrent, type LoadedMessage, loadMessages } from './load-messages.ts';
import { cancelOfInactive } from './pending-messages.ts';
import type { Claim, DeliveryQueue, Lane } from './queue.ts';
import { recordAttempts } from './record-attempts.ts';
import { type Attempt, type SendingServices, sendMessage } from './send-message.ts';

export type AttemptLoopOptions = SendingServices & {
  db: Database;
  queue: DeliveryQueue;
  /** Attempts under way at once, recorded ones not counted. */
  maxInFlight: number;
};

export type AttemptLoop = {
  /** Looks for due attempts now. */
  wake(): void;
  /** Claims nothing more, and resolves when what is under way has ended and is recorded. */
  stop(): Promise<void>;
};

/** Few at a time, since who has more than their share of the places is seen between two claims only. */
const MAX_CLAIMS = 20;
const MAX_RECORDS = 200;
/** Retries become due by time alone. */
const LOOK_EVERY_MS = 500;
/**
 * What waits for dead receivers can be much to look through, so it is not looked through at every occasion, and the less
 * often the longer it took.
 */
const SLOW_LANE_EVERY_MS = 200;
const SLOW_LANE_PAUSE = 10;
const HEARTBEAT_MS = 2_500;
const RECORD_AGAIN_MS = 500;
/** What cannot be recorded by then is left to other workers, who will repeat it. */
const STOP_MS = 20_000;

export function startAttemptLoop(options: AttemptLoopOptions): AttemptLoop {
  const { db, clock, log, queue } = options;
  /** The claims of this process, from being taken to being recorded. */
  const held = new Map<string, Claim>();
  const places = createPlaces(options.maxInFlight);
  const ended: Attempt[] = [];

  const hold = (claims: readonly Claim[], lane: Lane): void => {
    for (const claim of claims) {
      held.set(claim.id, claim);
      places.take(claim.id, lane, claim.data.workspaceId);
    }
  };

  const release = (claims: readonly Claim[]): void => {
    for (const { id } of claims) {
      held.delete(id);
      places.leave(id);
    }
    claiming.wake();
  };

  const attempt = async (claim: Claim, message: LoadedMessage): Promise<void> => {
    ended.push(await sendMessage(options, claim, message));
    recording.wake();
  };

  const webhooksOf = async (workspaceIds: readonly number[]) => {
    if (workspaceIds.length === 0) return [];
    const rows = await db.webhook.findMany({
      where: { workspaceId: { in: [...workspaceIds] } },
      select: { workspaceId: true, id: true },
    });
    return rows.map(({ workspaceId, id }) => ({ workspaceId, webhookId: id }));
  };

  const claimFrom = async (lane: Lane): Promise<number> => {
    const max = Math.min(places.free(lane), MAX_CLAIMS);
    if (max <= 0) return 0;
    const claims = await queue.claim(lane, max, await webhooksOf(places.fullWorkspaces()));
    if (claims.length === 0) return 0;
    hold(claims, lane);
    const messages = await loadMessages(db, claims).catch((error: unknown) => {
      // Their heartbeats end here, so that they are claimed anew.
      release(claims);
      throw error;
    });
    const idle: Claim[] = [];
    const misplaced: { claim: Claim; message: LoadedMessage }[] = [];
    for (const claim of claims) {
      const message = messages.get(claim.data.messageId);
      if (!isCurrent(claim, message)) idle.push(claim);
      // Queued before its webhook began to fail: the places of this lane are for what goes well.
      else if (lane === 'fast' && message.isSlow) misplaced.push({ claim, message });
      else void attempt(claim, message);
    }
    if (idle.length > 0) await dropIdle(idle).finally(() => release(idle));
    if (misplaced.length > 0)
      await moveToSlowLane(db, queue, misplaced).finally(() => release(misplaced.map((one) => one.claim)));
    return claims.length;
  };

  /** Ends claims that nothing is sent for: what was superseded, deleted, or waits for a webhook that is inactive. */
  const dropIdle = (claims: readonly Claim[]): Promise<void> =>
    transact(db, async (tx) => {
      await cancelOfInactive(
        tx,
        clock.now(),
        claims.map(({ id, data }) => ({ id, ...data })),
      );
      await queue.finish(tx, claims);
    });

  let slowLaneFrom = 0;

  const claim = async (): Promise<number> => {
    const claimed = await claimFrom('fast');
    const begunAt = performance.now();
    const untilSlowLane = slowLaneFrom - begunAt;
    if (untilSlowLane > 0) return claimed > 0 ? 0 : untilSlowLane;
    const claimedSlow = await claimFrom('slow');
    const tookMs = performance.now() - begunAt;
    slowLaneFrom = performance.now() + Math.max(SLOW_LANE_EVERY_MS, SLOW_LANE_PAUSE * tookMs);
    return claimed + claimedSlow > 0 ? 0 : LOOK_EVERY_MS;
  };

  let maxRecords = MAX_RECORDS;
  /** Whose recording failed once, and may have been done all the same. */
  const uncertain = new WeakSet<Attempt>();

  /** Takes attempts off the list, one a message: a second one of the same message waits for the next pass. */
  const takeEnded = (): Attempt[] => {
    const taken = new Map<string, Attempt>();
    const left: Attempt[] = [];
    for (const one of ended.splice(0)) {
      if (taken.size === maxRecords || taken.has(one.message.id)) left.push(one);
      else taken.set(one.message.id, one);
    }
    ended.push(...left);
    return [...taken.values()];
  };

  const record = async (): Promise<number> => {
    const attempts = takeEnded();
    if (attempts.length === 0) return RECORD_AGAIN_MS;
    try {
      await recordAttempts(
        { db, queue },
        clock.now(),
        attempts,
        attempts.some((one) => uncertain.has(one)),
      );
    } catch (error) {
      // What was sent must not be forgotten, so it is tried until it is written; in smaller and smaller batches, so that one
      // attempt that cannot be written keeps no others.
      for (const one of attempts) uncertain.add(one);
      ended.push(...attempts);
      maxRecords = Math.ceil(attempts.length / 2);
      throw error;
    }
    maxRecords = Math.min(maxRecords * 2, MAX_RECORDS);
    release(attempts.map((one) => one.claim));
    return 0;
  };

  const recording: PollLoop = startPollLoop({ name: 'record attempts', poll: record, log });
  const claiming: PollLoop = startPollLoop({ name: 'claim attempts', poll: claim, log });
  const heartbeat: PollLoop = startPollLoop({
    name: 'heartbeat',
    poll: async () => {
      await queue.touch([...held.values()]);
      return HEARTBEAT_MS;
    },
    log,
  });

  return {
    wake: claiming.wake,
    async stop() {
      await claiming.stop();
      const giveUpAt = performance.now() + STOP_MS;
      while (held.size > 0 && performance.now() < giveUpAt) await sleep(20);
      await recording.stop();
      await heartbeat.stop();
    },
  };
}
