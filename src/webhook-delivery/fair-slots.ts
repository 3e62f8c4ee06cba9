/**
 * The slots of this process: how many requests may be in flight in total and in the slow lane, and how many attempts of
 * one workspace may be in flight or not recorded yet. This is not a `Limiter` (src/core/limiter.ts), because nothing
 * waits here: the queue is in the database, which is asked for no more than is free. A slot is freed in two steps.
 */
import { type Lane, MAX_PER_WEBHOOK } from './queue.ts';

/** A workspace may have this share of the slots, and always at least as many as a single webhook may have. */
const WORKSPACE_SHARE = 1 / 8;

export type FairSlots = {
  /** Occupies a slot. `id` must be unique. */
  acquire(id: string, lane: Lane, workspaceId: number): void;
  /** Frees the slot with this id for other workspaces. It counts toward the share of its workspace until `release`. */
  endRequest(id: string): void;
  /** Frees the slot with this id, if there is one. */
  release(id: string): void;
  /** How many more slots may be acquired in this lane. The slow lane gets at most half of the slots. */
  countFree(lane: Lane): number;
  /** The workspaces that have used up their share. */
  fullWorkspaces(): number[];
};

type Slot = { lane: Lane; workspaceId: number };

export function createFairSlots(max: number): FairSlots {
  const acquired = new Map<string, Slot>();
  const inFlight = new Map<string, Slot>();
  const countByWorkspace = new Map<number, number>();
  const maxSlow = Math.ceil(max / 2);
  const maxPerWorkspace = Math.max(MAX_PER_WEBHOOK.fast, Math.ceil(max * WORKSPACE_SHARE));
  let slowCount = 0;

  const countWorkspace = ({ workspaceId }: Slot, change: 1 | -1): void => {
    const next = (countByWorkspace.get(workspaceId) ?? 0) + change;
    if (next === 0) countByWorkspace.delete(workspaceId);
    else countByWorkspace.set(workspaceId, next);
  };
  const endRequest = (id: string): void => {
    if (inFlight.get(id)?.lane === 'slow') slowCount -= 1;
    inFlight.delete(id);
  };

  return {
    acquire(id, lane, workspaceId) {
      const slot = { lane, workspaceId };
      acquired.set(id, slot);
      inFlight.set(id, slot);
      countWorkspace(slot, 1);
      if (lane === 'slow') slowCount += 1;
    },
    endRequest,
    release(id) {
      endRequest(id);
      const slot = acquired.get(id);
      if (slot && acquired.delete(id)) countWorkspace(slot, -1);
    },
    countFree(lane) {
      const free = max - inFlight.size;
      return lane === 'slow' ? Math.min(free, maxSlow - slowCount) : free;
    },
    fullWorkspaces: () =>
      [...countByWorkspace].filter(([, slots]) => slots >= maxPerWorkspace).map(([workspaceId]) => workspaceId),
  };
}
