/** Shares a fixed amount of memory among keys, such as networks. */

export type ByteBudget = {
  /**
   * Reserves `bytes` for `key`, and returns the function that releases them. Returns null if the key would then hold
   * more than what is left for all others. So one key alone gets at most half of the budget, and however many keys take
   * as much as they can, something is left for the next one (A. Choudhury and E. Hahne, "Dynamic queue length
   * thresholds for shared-memory packet switches", 1998).
   */
  reserve(key: string, bytes: number): (() => void) | null;
  /** How many bytes the key holds. */
  heldBy(key: string): number;
};

export function createByteBudget(totalBytes: number): ByteBudget {
  const held = new Map<string, number>();
  let free = totalBytes;

  const heldBy = (key: string): number => held.get(key) ?? 0;

  const add = (key: string, bytes: number): void => {
    free -= bytes;
    const sum = heldBy(key) + bytes;
    if (sum === 0) held.delete(key);
    else held.set(key, sum);
  };

  return {
    reserve(key, bytes) {
      if (heldBy(key) + bytes > free - bytes) return null;
      add(key, bytes);
      let isReleased = false;
      return () => {
        if (!isReleased) add(key, -bytes);
        isReleased = true;
      };
    },
    heldBy,
  };
}
