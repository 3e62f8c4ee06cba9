import type { RoomReference } from '../adapters/provider-event.ts';
import type { ApplyContext } from './apply-context.ts';

export type FoundRoom = { id: number };

/** Finds the workspace's room that currently has this name or session. Returns null if there is none. */
export function findRoom({ tx, workspaceId }: ApplyContext, reference: RoomReference): Promise<FoundRoom | null> {
  const identifier = reference.kind === 'name' ? { name: reference.name } : { sessionId: reference.sessionId };
  return tx.room.findFirst({ where: { workspaceId, ...identifier }, select: { id: true } });
}

/** Returns the provider's id for the meeting: the name of the room, or the provider's own session id. */
export function toMeeting(reference: RoomReference): string {
  return reference.kind === 'name' ? reference.name : reference.sessionId;
}
