/**
 * Limits on the requests to one host, for all workspaces and webhooks of this process together. This is not a `Limiter`
 * (src/core/limiter.ts), because the number in flight and the rate decide together, and what waits does so in the
 * database: only which webhooks were refused is known here, so that the queue is searched for others.
 */
import { SECOND_MS } from '../core/time.ts';
import { toWebhookKey, type WebhookRef } from './queue.ts';

export type HostLimitSettings = {
  /** Maximum number of requests to one host in flight; 0: unlimited. */
  maxInFlight: number;
  /** Maximum average number of requests to one host per second, and the maximum burst; 0: unlimited. */
  perSecond: number;
};

export type HostLimits = {
  /**
   * Starts a request of a webhook to a host, and returns true. Returns false if a limit of the host is reached, so that
   * the request must wait.
   */
  start(host: string, webhook: WebhookRef): boolean;
  /** Ends a request that `start` has started. */
  end(host: string): void;
  /** The hosts that are full, and the webhooks whose requests to them were refused. */
  findFull(): { hosts: string[]; webhooks: WebhookRef[] };
};

type HostState = {
  inFlight: number;
  /**
   * How many requests the rate limit allows to start now. It grows by `perSecond` each second, and is at most
   * `perSecond`.
   */
  allowance: number;
  updatedAt: number;
  /** By webhook key. Not empty while the host is full. */
  refused: Map<string, WebhookRef>;
};

/**
 * A full host is used again once this many requests may start. Searching the queue for fewer would cost more than it
 * gains.
 */
const MIN_FREE = 20;

/** Returns the normalized host name of a URL. An invalid URL counts as a host of its own. */
export function toHost(url: string): string {
  return (URL.parse(url)?.hostname ?? url).replace(/\.$/, '');
}

export function createHostLimits(
  { maxInFlight, perSecond }: HostLimitSettings,
  now: () => number = () => performance.now(),
): HostLimits {
  const states = new Map<string, HostState>();
  const maxFree = Math.min(maxInFlight || Number.POSITIVE_INFINITY, perSecond || Number.POSITIVE_INFINITY);
  const minFree = Math.max(1, Math.min(MIN_FREE, maxFree / 2));

  const read = (host: string): HostState => {
    const at = now();
    const state = states.get(host) ?? { inFlight: 0, allowance: perSecond, updatedAt: at, refused: new Map() };
    state.allowance = Math.min(perSecond, state.allowance + ((at - state.updatedAt) / SECOND_MS) * perSecond);
    state.updatedAt = at;
    states.set(host, state);
    return state;
  };

  const countFree = ({ inFlight, allowance }: HostState): number =>
    Math.min(
      maxInFlight === 0 ? Number.POSITIVE_INFINITY : maxInFlight - inFlight,
      perSecond === 0 ? Number.POSITIVE_INFINITY : allowance,
    );

  return {
    start(host, webhook) {
      const state = read(host);
      if (countFree(state) < 1) {
        state.refused.set(toWebhookKey(webhook), webhook);
        return false;
      }
      state.inFlight += 1;
      if (perSecond > 0) state.allowance -= 1;
      return true;
    },
    end(host) {
      const state = states.get(host);
      if (state !== undefined) state.inFlight -= 1;
    },
    findFull() {
      const full: ReturnType<HostLimits['findFull']> = { hosts: [], webhooks: [] };
      for (const host of states.keys()) {
        const state = read(host);
        if (countFree(state) >= minFree) state.refused.clear();
        if (state.refused.size > 0) {
          full.hosts.push(host);
          full.webhooks.push(...state.refused.values());
        } else if (state.inFlight === 0 && state.allowance >= perSecond) states.delete(host);
      }
      return full;
    },
  };
}
