/**
 * The worker: claims due attempts, makes them, and records them in batches. Any number of workers may run; a claim belongs
 * to one of them, which says by heartbeats that it lives.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../core/log.ts';
import type { Sealer } from '../core/sealing.ts';
import type { Clock } from '../core/time.ts';
import { type Database, transact } from '../db/client.ts';
import { type Passes, runPasses } from '../jobs/passes.ts';
import { isCurrent, type LoadedMessage, loadMessages } from './load-messages.ts';
import type { Claim, DeliveryQueue, Lane } from './queue.ts';
import { type Attempt, recordAttempts } from './record-attempts.ts';
import type { Outcome, Sender } from './sender.ts';
import { signedHeaders } from './signature.ts';
import { cancelOfInactive } from './start-round.ts';

export type WorkerOptions = {
  db: Database;
  clock: Clock;
  log: Log;
  sealer: Sealer;
  queue: DeliveryQueue;
  sender: Sender;
  /** Attempts under way at once, recorded ones not counted. */
  mostInFlight: number;
};

export type Worker = {
  /** Looks for due attempts now. */
  wake(): void;
  /** Claims nothing more, and resolves when what is under way has ended and is recorded. */
  stop(): Promise<void>;
};

const MOST_CLAIMS = 100;
const MOST_RECORDS = 200;
/** A workspace that has so many attempts under way gets no more until some have ended. */
const MOST_PER_WORKSPACE = 100;
/** Retries become due by time alone. */
const LOOK_EVERY_MS = 500;
/** What waits for dead receivers can be much to look through, so it is not looked through at every occasion. */
const SLOW_LANE_EVERY_MS = 200;
const HEARTBEAT_MS = 2_500;
const RECORD_AGAIN_MS = 500;
/** What cannot be recorded by then is left to other workers, who will repeat it. */
const STOP_MS = 20_000;

/** What is under way in this process. */
type InFlight = { claim: Claim; lane: Lane; workspaceId: number };

const timestampOf = ({ payload }: LoadedMessage): string => JSON.parse(payload).timestamp;

export const startWorker = ({ db, clock, log, sealer, queue, sender, mostInFlight }: WorkerOptions): Worker => {
  const inFlight = new Map<string, InFlight>();
  const ended: Attempt[] = [];
  /** Half of the places are kept for what goes well. */
  const places: Record<Lane, number> = { fast: mostInFlight, slow: Math.ceil(mostInFlight / 2) };

  const freePlaces = (lane: Lane): number => {
    const ofLane = lane === 'fast' ? inFlight.size : [...inFlight.values()].filter((one) => one.lane === 'slow').length;
    return Math.min(mostInFlight - inFlight.size, places[lane] - ofLane, MOST_CLAIMS);
  };

  const fullWorkspaces = (): number[] => {
    const counts = new Map<number, number>();
    for (const { workspaceId } of inFlight.values()) counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + 1);
    return [...counts].filter(([, count]) => count >= MOST_PER_WORKSPACE).map(([workspaceId]) => workspaceId);
  };

  const webhooksOf = async (workspaceIds: readonly number[]) => {
    if (workspaceIds.length === 0) return [];
    const rows = await db.webhook.findMany({
      where: { workspaceId: { in: [...workspaceIds] } },
      select: { workspaceId: true, id: true },
    });
    return rows.map(({ workspaceId, id }) => ({ workspaceId, webhookId: id }));
  };

  const secretsOf = (message: LoadedMessage, at: Date): string[] => {
    const { workspaceId, sealedSecret, previousSealedSecret, previousSecretUntil } = message;
    const isInOverlap = previousSealedSecret !== null && previousSecretUntil !== null && previousSecretUntil > at;
    return [sealedSecret, ...(isInOverlap ? [previousSealedSecret] : [])].map((sealed) =>
      sealer.open(sealed, { workspaceId, purpose: 'webhook secret' }),
    );
  };

  const send = (message: LoadedMessage, at: Date): Promise<Outcome> => {
    const { id: messageId, event, payload: body, url } = message;
    const timestamp = timestampOf(message);
    const secrets = secretsOf(message, at);
    return sender.send({
      url,
      body,
      headers: signedHeaders({ messageId, event, timestamp, attemptAt: at, body, secrets }),
    });
  };

  const attempt = async (claim: Claim, message: LoadedMessage): Promise<void> => {
    const at = clock.now();
    try {
      ended.push({ claim, message, at, outcome: await send(message, at) });
    } catch (error) {
      // Ours, such as a secret that does not open. The owner sees that it was not their receiver.
      log.error({ err: error, messageId: message.id }, 'An attempt could not be made');
      const text = 'The service could not make this attempt';
      ended.push({ claim, message, at, outcome: { status: 0, text, retryAfterSeconds: null, durationMs: 0 } });
    }
    recording.wake();
  };

  const claimFrom = async (lane: Lane): Promise<number> => {
    const most = freePlaces(lane);
    if (most <= 0) return 0;
    const claims = await queue.claim(lane, most, await webhooksOf(fullWorkspaces()));
    if (claims.length === 0) return 0;
    for (const claim of claims) inFlight.set(claim.id, { claim, lane, workspaceId: claim.data.workspaceId });
    const messages = await loadMessages(db, claims).catch((error: unknown) => {
      // Their heartbeats end here, so that they are claimed anew.
      for (const { id } of claims) inFlight.delete(id);
      throw error;
    });
    const idle: Claim[] = [];
    for (const claim of claims) {
      const message = messages.get(claim.data.messageId);
      if (isCurrent(claim, message)) void attempt(claim, message);
      else idle.push(claim);
    }
    if (idle.length > 0) await dropIdle(idle).finally(() => release(idle));
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

  const release = (claims: readonly Claim[]): void => {
    for (const { id } of claims) inFlight.delete(id);
    claiming.wake();
  };

  let slowLaneFrom = 0;

  const claim = async (): Promise<number> => {
    const claimed = await claimFrom('fast');
    const untilSlowLane = slowLaneFrom - performance.now();
    if (untilSlowLane > 0) return claimed > 0 ? 0 : untilSlowLane;
    slowLaneFrom = performance.now() + SLOW_LANE_EVERY_MS;
    return claimed + (await claimFrom('slow')) > 0 ? 0 : LOOK_EVERY_MS;
  };

  /** Takes attempts off the list, one a message: a second one of the same message waits for the next pass. */
  const takeEnded = (): Attempt[] => {
    const taken = new Map<string, Attempt>();
    const left: Attempt[] = [];
    for (const one of ended.splice(0)) {
      if (taken.size === MOST_RECORDS || taken.has(one.message.id)) left.push(one);
      else taken.set(one.message.id, one);
    }
    ended.push(...left);
    return [...taken.values()];
  };

  const record = async (): Promise<number> => {
    const attempts = takeEnded();
    if (attempts.length === 0) return RECORD_AGAIN_MS;
    try {
      await recordAttempts({ db, queue }, clock.now(), attempts);
    } catch (error) {
      // Nothing of it is written. What was sent must not be forgotten, so it is tried until it is.
      ended.unshift(...attempts);
      throw error;
    }
    release(attempts.map((one) => one.claim));
    return 0;
  };

  const recording: Passes = runPasses({ name: 'record attempts', pass: record, log });
  const claiming: Passes = runPasses({ name: 'claim attempts', pass: claim, log });
  const heartbeat: Passes = runPasses({
    name: 'heartbeat',
    pass: async () => {
      await queue.touch([...inFlight.values()].map((one) => one.claim));
      return HEARTBEAT_MS;
    },
    log,
  });

  return {
    wake: claiming.wake,
    async stop() {
      await claiming.stop();
      const giveUpAt = performance.now() + STOP_MS;
      while (inFlight.size > 0 && performance.now() < giveUpAt) await sleep(20);
      await recording.stop();
      await heartbeat.stop();
    },
  };
};
