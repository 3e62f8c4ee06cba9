/** Who gets the places of a process: how many attempts may be under way, in all, in the slow lane, and for a workspace. */
import { type Lane, MAX_PER_WEBHOOK } from './queue.ts';

/** A workspace that has this part of the places, or as many as one webhook may have, gets no more until some are left. */
const WORKSPACE_SHARE = 1 / 8;

export type Places = {
  take(id: string, lane: Lane, workspaceId: number): void;
  leave(id: string): void;
  /** How many more may be taken in this lane. Half of the places are kept for what goes well. */
  free(lane: Lane): number;
  fullWorkspaces(): number[];
};

export function createPlaces(max: number): Places {
  const taken = new Map<string, { lane: Lane; workspaceId: number }>();
  const ofWorkspace = new Map<number, number>();
  const maxSlow = Math.ceil(max / 2);
  const maxOfWorkspace = Math.max(MAX_PER_WEBHOOK.fast, Math.ceil(max * WORKSPACE_SHARE));
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
      const left = max - taken.size;
      return lane === 'slow' ? Math.min(left, maxSlow - slow) : left;
    },
    fullWorkspaces: () =>
      [...ofWorkspace].filter(([, places]) => places >= maxOfWorkspace).map(([workspaceId]) => workspaceId),
  };
}
