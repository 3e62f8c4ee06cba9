import type { Caller } from '../../auth/identify.ts';
import { createToken, hashToken } from '../../auth/tokens.ts';
import { badField, unauthorized } from '../../core/errors.ts';
import type { Sealer } from '../../core/sealing.ts';
import { type Tx, transact } from '../../db/client.ts';
import { isForeignKeyViolation } from '../../db/errors.ts';
import type { Services } from '../../services.ts';
import { findPresent, type Present } from './find-present.ts';
import { addParticipant, markJoined } from './participant-lifecycle.ts';
import { lockParticipant } from './participant-record.ts';
import { toOwnParticipant } from './present.ts';
import { findRoomAccess, lockRoomAccess } from './room-access.ts';
import type { JoinedParticipant, JoinInput } from './schemas.ts';

/**
 * Joins a room. If the room has a waiting room and the caller is not one of its hosts, the participant waits to be
 * admitted. If a user or the holder of a token joins again while still present, the participant and the token stay the
 * same, and no event is emitted. The token is stored as a hash, and for a user also sealed. Throws 400 for a guest
 * without a name, 404 "Room not found", and 401 if the user's account is deleted meanwhile.
 */
export async function joinRoom(
  { db, clock, sealer, settings }: Pick<Services, 'db' | 'clock' | 'sealer' | 'settings'>,
  caller: Caller | null,
  input: JoinInput,
): Promise<JoinedParticipant> {
  // A participant who is still present needs no name.
  if (!input.token) toPerson(caller, input);
  try {
    return await transact(db, async (tx) => {
      const access = await lockRoomAccess(tx, () => findRoomAccess(tx, caller, input.roomName));
      const at = clock.now();
      const room = { workspaceId: access.workspaceId, roomId: access.roomId };
      const present = await findPresent({ tx, sealer, now: at }, room, caller, input.token);
      const { id, token } = present ?? (await addNew({ tx, sealer, now: at }, room, toPerson(caller, input)));
      const mayEnter = access.isHost || !access.hasWaitingRoom;
      const key = { ...room, id };
      const participant = await (mayEnter ? markJoined(tx, at, key, settings.quotas) : lockParticipant(tx, key));
      return { ...toOwnParticipant(participant, access.waitingRoomMessage), token };
    });
  } catch (error) {
    // The room is locked, so only the user can be missing.
    if (isForeignKeyViolation(error)) throw unauthorized();
    throw error;
  }
}

/** Adds a participant with a new token. */
async function addNew(
  { tx, sealer, now }: { tx: Tx; sealer: Sealer; now: Date },
  room: { workspaceId: number; roomId: number },
  person: ReturnType<typeof toPerson>,
): Promise<Present> {
  const token = createToken('lnp_');
  const { workspaceId } = room;
  const sealedToken = person.userId === null ? null : sealer.seal(token, { workspaceId, purpose: 'participant token' });
  const participant = { ...room, ...person, tokenHash: hashToken(token), sealedToken, reference: null };
  return { id: await addParticipant(tx, now, participant), token };
}

/** The email address of a user is that of their account, so that a user cannot pose as another contact. */
function toPerson(caller: Caller | null, { name: sentName, email }: JoinInput) {
  const name = sentName || caller?.name;
  if (!name) throw badField('name', 'name is required');
  return { name, email: caller?.email ?? email ?? null, userId: caller?.userId ?? null };
}
