/**
 * Shares this process between the owners of calls, such as `user:7`. An owner who calls alone is not limited. While
 * others call too, an owner may have only a few calls in progress: the fewer, the more their calls cost. The others
 * then wait for one expensive call, not for as many as somebody sends at once.
 *
 * This is not a `Limiter` (src/core/limiter.ts), because nothing here has a fixed limit: what an owner may use follows
 * from what their calls have cost and from who else calls, and a call that lasts for long stops counting.
 */
import type { CallBounds } from './call-bounds.ts';
import { type AppError, requestCutOff, tooManyRequests } from './errors.ts';

export type FairShares = {
  /**
   * Runs `work` when it is the turn of the call's owner, and settles with its result. Throws 429 if too many calls of
   * the owner wait, or if the turn does not come within ten seconds, unless `isPatient` is set; and REQUEST_CUT_OFF if
   * the caller hangs up first. A call without an owner runs at once. `owner` replaces the owner of the call.
   */
  run<Result>(
    call: CallBounds | undefined,
    work: () => Promise<Result>,
    options?: { isPatient?: boolean; owner?: string | null },
  ): Promise<Result>;
};

/** How much work of one owner may be in progress, in milliseconds: two calls of 5 ms, or one that takes longer. */
const SHARE_MS = 10;
const MAX_CALLS = 8;
/**
 * How many more calls an owner may have in progress in other features: a feature whose table is locked must not stop
 * the calls of its callers to all others.
 */
const OTHER_FEATURES = 2;
const MAX_QUEUED = 200;
const MAX_WAIT_MS = 10_000;
/**
 * A call that lasts for longer counts no longer: it waits for a lock, or for another service, and takes nothing from
 * anybody meanwhile.
 */
const LONG_MS = 100;
/** How long an owner counts after their last call. */
const RECENT_MS = 1_000;
const SWEEP_MS = 250;
const MIN_COST_MS = 0.1;
/** The weight of the latest call in the average. */
const WEIGHT = 0.2;

type Place = { feature: string; since: number };

type Waiter = { feature: string; grant(place: Place): void };

type Owner = {
  running: Set<Place>;
  queue: Waiter[];
  /** Looks for calls that last for long, while others wait. */
  timer: NodeJS.Timeout | undefined;
  /** The average cost of a call: how long it takes, without its waits for the database. */
  averageMs: number;
  lastAt: number;
};

export function createFairShares(now: () => number = () => performance.now()): FairShares {
  const owners = new Map<string, Owner>();
  let sweptAt = now();

  /** Forgets the owners who have not called for a while. */
  const sweep = (at: number): void => {
    if (at - sweptAt < SWEEP_MS) return;
    sweptAt = at;
    for (const [key, { running, queue, lastAt }] of owners)
      if (running.size === 0 && queue.length === 0 && at - lastAt > RECENT_MS) owners.delete(key);
  };

  /** Returns a function that says whether a call of a feature may run, and counts it if so. */
  const openPlaces = (owner: Owner): ((feature: string) => boolean) => {
    if (owners.size < 2) return () => true;
    const limit = Math.min(MAX_CALLS, Math.max(1, Math.floor(SHARE_MS / owner.averageMs)));
    const since = now() - LONG_MS;
    const counts = new Map<string, number>();
    let total = 0;
    const count = (feature: string): void => {
      total += 1;
      counts.set(feature, (counts.get(feature) ?? 0) + 1);
    };
    for (const place of owner.running) if (place.since > since) count(place.feature);
    return (feature) => {
      if (total >= limit + OTHER_FEATURES || (counts.get(feature) ?? 0) >= limit) return false;
      count(feature);
      return true;
    };
  };

  const take = (owner: Owner, feature: string): Place => {
    const place = { feature, since: now() };
    owner.running.add(place);
    return place;
  };

  const grantWaiting = (owner: Owner): void => {
    sweep(now());
    const mayRun = openPlaces(owner);
    const granted = owner.queue.filter(({ feature }) => mayRun(feature));
    owner.queue = owner.queue.filter((waiter) => !granted.includes(waiter));
    for (const { feature, grant } of granted) grant(take(owner, feature));
    clearTimeout(owner.timer);
    owner.timer = owner.queue.length > 0 ? setTimeout(grantWaiting, LONG_MS, owner) : undefined;
  };

  const wait = async (owner: Owner, { feature, hungUp }: CallBounds, isPatient: boolean): Promise<Place> => {
    if (hungUp.aborted) throw requestCutOff();
    if (!isPatient && owner.queue.length >= MAX_QUEUED) throw tooManyCalls();
    const { promise, resolve, reject } = Promise.withResolvers<Place>();
    const waiter: Waiter = { feature, grant: resolve };
    owner.queue.push(waiter);
    owner.timer ??= setTimeout(grantWaiting, LONG_MS, owner);
    const giveUp = (error: Error): void => {
      const index = owner.queue.indexOf(waiter);
      if (index !== -1) owner.queue.splice(index, 1);
      reject(error);
    };
    const timer = isPatient ? undefined : setTimeout(() => giveUp(tooManyCalls()), MAX_WAIT_MS);
    const onHangUp = (): void => giveUp(requestCutOff());
    hungUp.addEventListener('abort', onHangUp);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      hungUp.removeEventListener('abort', onHangUp);
    }
  };

  return {
    async run(call, work, { isPatient = false, owner: key = call?.owner ?? null } = {}) {
      if (call === undefined || key === null) return work();
      const { feature } = call;
      sweep(now());
      const owner = owners.get(key) ?? createOwner();
      owners.set(key, owner);
      // The others may have gone in the meantime.
      if (owner.queue.length > 0) grantWaiting(owner);
      const mayRun = owners.size < 2 || openPlaces(owner)(feature);
      const place = mayRun ? take(owner, feature) : await wait(owner, call, isPatient);
      const startedAt = now();
      const queuedBefore = call.queuedMs;
      try {
        return await work();
      } finally {
        owner.lastAt = now();
        const cost = owner.lastAt - startedAt - (call.queuedMs - queuedBefore);
        owner.averageMs += WEIGHT * (Math.min(Math.max(cost, MIN_COST_MS), LONG_MS) - owner.averageMs);
        owner.running.delete(place);
        if (owner.queue.length > 0) grantWaiting(owner);
      }
    },
  };
}

function createOwner(): Owner {
  return { running: new Set(), queue: [], timer: undefined, averageMs: 1, lastAt: 0 };
}

/** The 429 for an owner with too many calls at once. */
export function tooManyCalls(): AppError {
  return tooManyRequests('Too many concurrent requests: wait for earlier requests to finish', 1);
}
