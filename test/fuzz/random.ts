/** Random choices that one seed determines, so that a failed request can be made again. */

export type Random = {
  /** A number between 0 and 1, exclusive of 1. */
  next(): number;
  /** An integer between 0 and `max`, inclusive. */
  integer(max: number): number;
  pick<Value>(values: readonly Value[]): Value;
  /** True with the probability `probability`. */
  chance(probability: number): boolean;
};

/** The generator mulberry32: small, fast, and good enough to spread test cases. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (max: number): number => Math.floor(next() * (max + 1));
  return {
    next,
    integer,
    pick(values) {
      const value = values[integer(values.length - 1)];
      if (value === undefined && values.length === 0) throw new Error('Nothing to pick from');
      // The index is within the array, so an undefined value is one of the values.
      return value as (typeof values)[number];
    },
    chance: (probability) => next() < probability,
  };
}
