/** Who gets the places of a process: how many attempts may be under way, in all, in the slow lane, and for a workspace. */
import type { Lane } from './queue.ts';

/** A workspace that has so many attempts under way gets no more until some have ended. */
export const MOST_PER_WORKSPACE = 100;

export type Places = {
  take(id: string, lane: Lane, workspaceId: number): void;
  leave(id: string): void;
  /** How many more may be taken in this lane. Half of the places are kept for what goes well. */
  free(lane: Lane): number;
  fullWorkspaces(): number[];
};

export const createPlaces = (most: number): Places => {
  const taken = new Map<string, { lane: Lane; workspaceId: number }>();
  const ofWorkspace = new Map<number, number>();
  const mostSlow = Math.ceil(most / 2);
  let slow = 0;

  const count = ({ lane, workspaceId }: { lane: Lane; workspaceId: number }, by: 1 | -1): void => {
    if (lane === 'slow') slow += by;
    const next = (ofWorkspace.get(workspaceId) ?? 0) + by;
    if (next === 0) ofWorkspace.delete(workspaceId);
    else ofWorkspace.set(workspaceId, next);
  };

  return {
    take(id, lane, workspaceId) {
      const place = { lane, workspaceId };
      taken.set(id, place);
      count(place, 1);
    },
    leave(id) {
      const place = taken.get(id);
      if (place && taken.delete(id)) count(place, -1);
    },
    free(lane) {
      const left = most - taken.size;
      return lane === 'slow' ? Math.min(left, mostSlow - slow) : left;
    },
    fullWorkspaces: () =>
      [...ofWorkspace].filter(([, places]) => places >= MOST_PER_WORKSPACE).map(([workspaceId]) => workspaceId),
  };
};
