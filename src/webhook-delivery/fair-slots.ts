/** The slots of this process: how many attempts may be in flight in total, in the slow lane, and for one workspace. */
import { type Lane, MAX_PER_WEBHOOK } from './queue.ts';

/** A workspace may occupy this share of the slots, but always at least as many as one webhook may. */
const WORKSPACE_SHARE = 1 / 8;

export type FairSlots = {
  /** Occupies a slot. `id` must be unique. */
  acquire(id: string, lane: Lane, workspaceId: number): void;
  /** Frees the slot with this id, if there is one. */
  release(id: string): void;
  /** How many more may be acquired in this lane. The slow lane gets half of the slots at most. */
  countFree(lane: Lane): number;
  /** The workspaces that have used up their share. */
  fullWorkspaces(): number[];
};

export function createFairSlots(max: number): FairSlots {
  const occupied = new Map<string, { lane: Lane; workspaceId: number }>();
  const countByWorkspace = new Map<number, number>();
  const maxSlow = Math.ceil(max / 2);
  const maxPerWorkspace = Math.max(MAX_PER_WEBHOOK.fast, Math.ceil(max * WORKSPACE_SHARE));
  let slowCount = 0;

  const count = ({ lane, workspaceId }: { lane: Lane; workspaceId: number }, change: 1 | -1): void => {
    if (lane === 'slow') slowCount += change;
    const next = (countByWorkspace.get(workspaceId) ?? 0) + change;
    if (next === 0) countByWorkspace.delete(workspaceId);
    else countByWorkspace.set(workspaceId, next);
  };

  return {
    acquire(id, lane, workspaceId) {
      const slot = { lane, workspaceId };
      occupied.set(id, slot);
      count(slot, 1);
    },
    release(id) {
      const slot = occupied.get(id);
      if (slot && occupied.delete(id)) count(slot, -1);
    },
    countFree(lane) {
      const free = max - occupied.size;
      return lane === 'slow' ? Math.min(free, maxSlow - slowCount) : free;
    },
    fullWorkspaces: () =>
      [...countByWorkspace].filter(([, slots]) => slots >= maxPerWorkspace).map(([workspaceId]) => workspaceId),
  };
}
