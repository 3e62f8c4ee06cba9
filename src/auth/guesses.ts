/** Which public names each network has reached lately, and which it is trying at this moment, in this process. */
import { systemTicker, type Ticker } from '../core/ticker.ts';
import { HOUR_MS } from '../core/time.ts';

export type Guesses = {
  /** Whether the network has reached the name within the last hour. */
  isKnown(network: string, name: string): boolean;
  remember(network: string, name: string): void;
  /** Counts a call to a name that is not known, until the returned function is called. */
  begin(network: string, name: string): () => void;
  /** How many other names the calls in progress of the network try. */
  countOthers(network: string, name: string): number;
};

/** About 1 MB. */
const MAX_KNOWN = 10_000;

export function createGuesses(ticker: Ticker = systemTicker): Guesses {
  /** When it was last reached. The longest ago is first. */
  const known = new Map<string, number>();
  /** The calls in progress, by network and name. */
  const inProgress = new Map<string, Map<string, number>>();

  return {
    isKnown(network, name) {
      const reachedAt = known.get(toKey(network, name));
      return reachedAt !== undefined && ticker.now() - reachedAt < HOUR_MS;
    },
    remember(network, name) {
      const key = toKey(network, name);
      known.delete(key);
      known.set(key, ticker.now());
      const [oldest] = known.keys();
      if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
    },
    begin(network, name) {
      const names = inProgress.get(network) ?? new Map<string, number>();
      inProgress.set(network, names);
      names.set(name, (names.get(name) ?? 0) + 1);
      return () => {
        const left = (names.get(name) ?? 1) - 1;
        if (left > 0) names.set(name, left);
        else names.delete(name);
        if (names.size === 0) inProgress.delete(network);
      };
    },
    countOthers(network, name) {
      const names = inProgress.get(network);
      return names === undefined ? 0 : names.size - (names.has(name) ? 1 : 0);
    },
  };
}

function toKey(network: string, name: string): string {
  return `${network} ${name}`;
}
