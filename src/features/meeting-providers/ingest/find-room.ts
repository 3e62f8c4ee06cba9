import type { RoomReference } from '../adapters/provider-event.ts';
import type { ApplyContext } from './apply-context.ts';

export type FoundRoom = { id: number };

/** Finds the room of the workspace that has this name or session now; null if there is none. */
export function findRoom({ tx, workspaceId }: ApplyContext, reference: RoomReference): Promise<FoundRoom | null> {
  const identifier = reference.kind === 'name' ? { name: reference.name } : { sessionId: reference.sessionId };
  return tx.room.findFirst({ where: { workspaceId, ...identifier }, select: { id: true } });
}

/** How the provider identifies the meeting: by the name of the room, or by a session of its own. */
export function toMeeting(reference: RoomReference): string {
  return reference.kind === 'name' ? reference.name : reference.sessionId;
}
