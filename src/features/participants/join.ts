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
 * Joins a room. If the room has a waiting room and the caller is not one of its hosts, the participant waits to be
 * admitted. Only the hash of the returned token is stored. Throws 400 for a guest without a name, 404 "Room not found",
 * and 401 if the user's account has been deleted.
 */
export async function joinRoom(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  caller: Caller | null,
  input: JoinInput,
): Promise<JoinedParticipant> {
  const person = toPerson(caller, input);
  const token = createToken('lnp_');
  try {
    return await transact(db, async (tx) => {
      const access = await lockRoomAccess(tx, () => findRoomAccess(tx, caller, input.roomName));
      const at = clock.now();
      const room = { workspaceId: access.workspaceId, roomId: access.roomId };
      const id = await addParticipant(tx, at, { ...room, ...person, tokenHash: hashToken(token), reference: null });
      const mayEnter = access.isHost || !access.hasWaitingRoom;
      const participant = await (mayEnter ? markJoined(tx, at, { ...room, id }) : lockParticipant(tx, { ...room, id }));
      return { ...toOwnParticipant(participant, access.waitingRoomMessage), token };
    });
  } catch (error) {
    // The room is locked, so only the user can be missing.
    if (isForeignKeyViolation(error)) throw unauthorized();
    throw error;
  }
}

/** The email address of a user is that of their account, so that a user cannot pose as another contact. */
function toPerson(caller: Caller | null, { name: sentName, email }: JoinInput) {
  const name = sentName || caller?.name;
  if (!name) throw badField('name', 'name is required');
  return { name, email: caller?.email ?? email ?? null, userId: caller?.userId ?? null };
}
