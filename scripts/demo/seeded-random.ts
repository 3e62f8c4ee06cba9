/** A random number generator with a seed, for demo data. Not for secrets. */

export type Random = {
  /** An integer between `min` and `max`, both inclusive. */
  between(min: number, max: number): number;
  /** True with this probability, which is between 0 and 1. */
  chance(probability: number): boolean;
  /** One of the values. Throws if there are none. */
  one<Thing>(things: readonly Thing[]): Thing;
  /** `count` different values, or all of them if there are fewer. */
  some<Thing>(things: readonly Thing[], count: number): Thing[];
};

/** Creates a Mulberry32 generator: small, fast and uniform enough for a demo. */
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
