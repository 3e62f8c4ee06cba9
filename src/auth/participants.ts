/** Who is calling from within a room: by the token that joining it gave. */
import type { Database } from '../db/client.ts';
import { hashToken, isToken } from './tokens.ts';

/** A participant who calls, as they are found by their token. */
export type RoomCaller = {
  id: number;
  workspaceId: number;
  roomId: number;
  roomName: string;
  name: string;
  status: string;
};

/** The participant of the room `roomName` behind a token; null where there is none, or in another room. */
export async function findParticipant(db: Database, roomName: string, token: string): Promise<RoomCaller | null> {
  if (!isToken('lnp_', token)) return null;
  const [row] = await db.$queryRaw<RoomCaller[]>`
    select p.id, p.workspace_id as "workspaceId", p.room_id as "roomId", r.name as "roomName", p.name, p.status
    from participants p join rooms r on r.workspace_id = p.workspace_id and r.id = p.room_id
    where p.token_hash = ${hashToken(token)}`;
  // Compared here: the text comes from outside, and PostgreSQL takes not every text.
  return row?.roomName === roomName ? row : null;
}
