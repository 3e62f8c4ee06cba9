/** How the participants of a room exchange sound and pictures, as it is told to one of them. */
import { bool, int } from '../../db/statements.ts';
import type { Settings } from '../../services.ts';
import type { Media } from './schemas.ts';
import { createTurnServer } from './turn-server.ts';

/** The columns of `mediaColumnsOf`. */
export const mediaReturns = { isMesh: bool, relayOnly: bool, hasSeat: bool, seatsTaken: int };

export type MediaRow = { isMesh: boolean; relayOnly: boolean; hasSeat: boolean; seatsTaken: number };

/** Whether a page `g` has a seat now. `$now` is a parameter. A participant who has left has no page. */
export const isSeated = 'g.seated_at is not null and g.expires_at > $now';

/** Whether the browsers of the room `r` connect to each other. */
export const isMesh = `(r.media is not null or not exists (
      select from meeting_connections c where c.workspace_id = r.workspace_id)
    or exists (select from workspaces w where w.id = r.workspace_id and w.media is not null))`;

/** The number of seats that are taken in the room `r`. */
export const seatsTaken = `(
    select count(*)::int from meeting_pages g
    where g.workspace_id = r.workspace_id and g.room_id = r.id and ${isSeated})`;

/** The columns about the media of a participant in the room `r`. `participantId` is an expression. */
export function mediaColumnsOf(participantId: string): string {
  return `
    ${isMesh} as "isMesh", r.relay_only as "relayOnly", exists (
      select from meeting_pages g
      where g.workspace_id = r.workspace_id and g.participant_id = ${participantId} and ${isSeated}) as "hasSeat",
    ${seatsTaken} as "seatsTaken"`;
}

/** How many seats there are for a person. The last one is for a host, so that guests alone cannot keep hosts out. */
export function seatsFor({ isHost }: { isHost: boolean }, { meetings }: Pick<Settings, 'meetings'>): number {
  return meetings.maxParticipants + (isHost ? 1 : 0);
}

/**
 * Returns what a participant needs to exchange media; null unless they have joined. The credentials for TURN servers
 * work for 5 to 10 minutes by default, and stay the same for 5 minutes.
 */
export function toMedia(
  settings: Pick<Settings, 'meetings'>,
  now: Date,
  { id, status, isHost }: { id: number; status: string; isHost: boolean },
  row: MediaRow,
): Media | null {
  if (status !== 'joined') return null;
  if (!row.isMesh) return { kind: 'none' };
  const { maxParticipants, iceServers, turn, isRelayOnly } = settings.meetings;
  if (!row.hasSeat && row.seatsTaken >= seatsFor({ isHost }, settings))
    return { kind: 'full', max_participants: maxParticipants };
  const created = turn && createTurnServer(turn, id, now);
  return {
    kind: 'mesh',
    ice_servers: [...iceServers, ...(created ? [created.server] : [])],
    ice_transport_policy: isRelayOnly || row.relayOnly ? 'relay' : 'all',
    max_participants: maxParticipants,
    credentials_expire_at: created?.expiresAt ?? null,
  };
}
