import type { Caller } from '../../auth/identify.ts';
import { createToken, hashToken } from '../../auth/tokens.ts';
import { badField, unauthorized } from '../../core/errors.ts';
import { isForeignKeyViolation, transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { addParticipant, markJoined } from './participant-lifecycle.ts';
import { lockParticipant } from './participant-record.ts';
import { toOwnParticipant } from './present.ts';
import { findRoomAccess, lockRoomAccess } from './room-access.ts';
import type { JoinedParticipant, JoinInput } from './schemas.ts';

/**
 * Joins a room: goes in, or waits to be let in where the room has that and the caller is none of its hosts. Only the
 * hash of the answer's token is kept. Throws 400 for a guest without a name, 404 "Room not found", and 401 for a user
 * who deletes their account meanwhile.
 */
export async function joinRoom(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  caller: Caller | null,
  input: JoinInput,
): Promise<JoinedParticipant> {
  const visitor = toVisitor(caller, input);
  const token = createToken('lnp_');
  try {
    return await transact(db, async (tx) => {
      const access = await lockRoomAccess(tx, () => findRoomAccess(tx, caller, input.roomName));
      const at = clock.now();
      const { workspaceId, roomId } = access;
      const place = { workspaceId, roomId };
      const known = { tokenHash: hashToken(token), reference: null };
      const key = { ...place, id: await addParticipant(tx, at, { ...place, ...visitor, ...known }) };
      const isIn = access.isHost || !access.hasWaitingRoom;
      const visit = await (isIn ? markJoined(tx, at, key) : lockParticipant(tx, key));
      return { ...toOwnParticipant(visit, access.waitingRoomMessage), token };
    });
  } catch (error) {
    // The room is held; what is missing can only be the user.
    if (isForeignKeyViolation(error)) throw unauthorized();
    throw error;
  }
}

/** A user's address is that of their account: nobody comes as somebody else's contact who has one of their own. */
function toVisitor(caller: Caller | null, { name, email }: JoinInput) {
  const called = name || caller?.name;
  if (!called) throw badField('name', 'name is required');
  return { name: called, email: caller?.email ?? email ?? null, userId: caller?.userId ?? null };
}
