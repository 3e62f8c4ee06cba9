/** Randomness that a seed repeats, for demo data. Never for secrets. */

export type Random = {
  /** A whole number from `least` to `most`. */
  between(min: number, max: number): number;
  chance(probability: number): boolean;
  one<Thing>(things: readonly Thing[]): Thing;
  /** So many different ones, or all there are. */
  some<Thing>(things: readonly Thing[], count: number): Thing[];
};

/** Mulberry32: small, fast, and even enough for a demo. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    between,
    chance: (probability) => next() < probability,
    one<Thing>(things: readonly Thing[]): Thing {
      const thing = things[between(0, things.length - 1)];
      if (thing === undefined) throw new Error('Nothing to choose from');
      return thing;
    },
    some<Thing>(things: readonly Thing[], count: number): Thing[] {
      const left = [...things];
      const chosen: Thing[] = [];
      while (chosen.length < count && left.length > 0) chosen.push(...left.splice(between(0, left.length - 1), 1));
      return chosen;
    },
  };
}
