/** Slots of this process that many share, such as those of open streams. Each group of users may have some of them. */
import type { AppError } from './errors.ts';

/** A group that a slot counts toward. `full` creates the error for a caller who finds its slots in use. */
export type SlotGroup = { key: string; max: number; full: () => AppError };

export type SharedSlots = {
  /** Takes a slot. Returns the function that releases it. Throws the error of the first group that is full. */
  take(groups: readonly SlotGroup[]): () => void;
};

export function createSharedSlots(): SharedSlots {
  const inUse = new Map<string, number>();
  const add = (key: string, change: number): void => {
    const count = (inUse.get(key) ?? 0) + change;
    if (count === 0) inUse.delete(key);
    else inUse.set(key, count);
  };
  return {
    take(groups) {
      for (const { key, max, full } of groups) if ((inUse.get(key) ?? 0) >= max) throw full();
      for (const { key } of groups) add(key, 1);
      return () => {
        for (const { key } of groups) add(key, -1);
      };
    },
  };
}

/** Returns a part of the slots, and at least one. */
export function shareOf(slots: number, part: number): number {
  return Math.max(1, Math.floor(slots * part));
}
