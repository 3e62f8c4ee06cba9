/** Finds the participant who makes a call, by the token that they received on joining the room. */
import { readSlug } from '../core/slugs.ts';
import type { Database } from '../db/client.ts';
import { bool, bytes, int, nullable, statement, text } from '../db/statements.ts';
import type { Caller } from './identify.ts';
import { hashToken, isToken } from './tokens.ts';

/** A participant who was found by their token. */
export type RoomCaller = {
  id: number;
  workspaceId: number;
  roomId: number;
  roomName: string;
  name: string;
  /** Whether they joined with a session. */
  isUser: boolean;
  status: string;
  /** Why a host ended the visit: `removed` or `closed`; null if no host did. */
  endReason: string | null;
  /** The pass with which they joined; null if they joined without one. */
  passId: number | null;
};

/** A participant who acts in their room by the rights that their pass may give them, at this time. */
export type PassHolder = { participant: RoomCaller; at: Date };

/** Who acts as a host of a room. Whether they are one is checked where the room is found. */
export type RoomHost = Caller | PassHolder;

const findByToken = statement('find-participant-by-token', {
  params: { tokenHash: bytes },
  returns: {
    id: int,
    workspaceId: int,
    roomId: int,
    roomName: text,
    name: text,
    isUser: bool,
    status: text,
    endReason: nullable(text),
    passId: nullable(int),
  },
  sql: `
    select p.id, p.workspace_id as "workspaceId", p.room_id as "roomId", r.name as "roomName", p.name,
      p.user_id is not null as "isUser", p.status, p.end_reason as "endReason", p.pass_id as "passId"
    from participants p join rooms r on r.workspace_id = p.workspace_id and r.id = p.room_id
    where p.token_hash = $tokenHash`,
});

/** Finds the participant of a room by their token. Returns null if there is none, or if they are in another room. */
export async function findParticipant(db: Database, roomName: string, token: string): Promise<RoomCaller | null> {
  const found = await findParticipantByToken(db, token);
  // Compared here, because the name is user input, and PostgreSQL rejects strings that contain NUL.
  return found?.roomName === readSlug(roomName) ? found : null;
}

/** Finds the participant of any room by their token. Returns null if there is none. */
export async function findParticipantByToken(db: Database, token: string): Promise<RoomCaller | null> {
  if (!isToken('lnp_', token)) return null;
  const [row] = await db.sql.run(findByToken, { tokenHash: hashToken(token) });
  return row ?? null;
}
