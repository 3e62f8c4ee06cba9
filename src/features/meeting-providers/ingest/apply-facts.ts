/** What providers tell, applied to rooms, participants and recordings. */
import type { MeetingFact, RoomReference } from '../adapters/facts.ts';
import type { ApplyContext, FoundRoom } from './apply-context.ts';
import { applyParticipantFact } from './apply-participant.ts';
import { applyRecordingFact } from './apply-recording.ts';

/**
 * Applies one fact; facts may come late, twice and in any order, and end in the same rows and events. What is about a
 * room that the workspace does not have changes nothing.
 */
export async function applyFact(context: ApplyContext, fact: MeetingFact): Promise<void> {
  const room = await findRoom(context, fact.room);
  if (room === null) {
    const { log, workspaceId } = context;
    log.debug({ workspaceId, kind: fact.kind }, 'A callback is about a room that the workspace does not have');
    return;
  }
  await ('archiveId' in fact ? applyRecordingFact(context, room, fact) : applyParticipantFact(context, room, fact));
}

async function findRoom({ tx, workspaceId }: ApplyContext, reference: RoomReference): Promise<FoundRoom | null> {
  const named = reference.kind === 'name' ? { name: reference.name } : { sessionId: reference.sessionId };
  const room = await tx.room.findFirst({ where: { workspaceId, ...named }, select: { id: true } });
  return room && { workspaceId, roomId: room.id };
}
