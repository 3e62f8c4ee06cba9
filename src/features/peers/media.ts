/** How the participants of a room exchange sound and pictures, as it is told to one of them. */
import { createLinkToken } from '../../auth/tokens.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { MAX_INT32 } from '../../core/validation.ts';
import { bool, int } from '../../db/statements.ts';
import type { Services, Settings } from '../../services.ts';
import { type LivekitConnection, livekitOf, livekitReturns, toSocketUrl } from '../livekit/connection.ts';
import { createLivekitToken, type LivekitVisitor } from '../livekit/token.ts';
import type { Media } from './schemas.ts';
import { createTurnServer } from './turn-server.ts';

/** The columns of `mediaColumnsOf`. */
export const mediaReturns = { isMesh: bool, relayOnly: bool, hasSeat: bool, seatsTaken: int, ...livekitReturns };

export type MediaRow = {
  isMesh: boolean;
  relayOnly: boolean;
  hasSeat: boolean;
  seatsTaken: number;
  livekit: LivekitConnection | null;
};

/** The participant who gets the media. */
export type Visitor = { id: number; status: string; isHost: boolean } & Omit<LivekitVisitor, 'connectionId'> & {
    /** The page, if it is known. */
    connectionId?: string | undefined;
  };

/** Whether a page `g` has a seat now. `$now` is a parameter. A participant who has left has no page. */
export const isSeated = 'g.seated_at is not null and g.expires_at > $now';

/** Whether the browsers of the room `r` connect to each other. */
export const isMesh = `(r.media is not null or not exists (
      select from meeting_connections c where c.workspace_id = r.workspace_id)
    or exists (select from workspaces w where w.id = r.workspace_id and w.media is not null))`;

/** The origin of the LiveKit server that carries the media of the room `r`; null if there is none. */
export const mediaOrigin = `(case when not ${isMesh} then (
    select k.media_origin from meeting_connections k
    where k.workspace_id = r.workspace_id and k.media_origin is not null) end)`;

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
    ${seatsTaken} as "seatsTaken", ${livekitOf('r.workspace_id')}`;
}

/**
 * How many seats there are for a person; 0 if a provider carries the media without this service. The last one of a mesh
 * is for a host, so that guests alone cannot keep hosts out. A LiveKit server has its own limit.
 */
export function seatsFor(
  { isHost, isMesh: isOfMesh, livekit }: { isHost: boolean } & Pick<MediaRow, 'isMesh' | 'livekit'>,
  { meetings }: Pick<Settings, 'meetings'>,
): number {
  if (isOfMesh) return meetings.maxParticipants + (isHost ? 1 : 0);
  return livekit === null ? 0 : MAX_INT32;
}

/**
 * Returns what a participant needs to exchange media; null unless they have joined. The credentials for TURN servers
 * work for 5 to 10 minutes by default, and stay the same for 5 minutes. So does the token for a LiveKit server.
 */
export async function toMedia(
  services: Pick<Services, 'settings' | 'sealer'>,
  now: Date,
  visitor: Visitor,
  row: MediaRow,
): Promise<Media | null> {
  const { id, status, isHost } = visitor;
  if (status !== 'joined') return null;
  if (!row.isMesh) return row.livekit === null ? { kind: 'none' } : toLivekitMedia(services, now, visitor, row.livekit);
  const { settings } = services;
  const { maxParticipants, iceServers, turn, isRelayOnly } = settings.meetings;
  if (!row.hasSeat && row.seatsTaken >= seatsFor({ isHost, ...row }, settings))
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

async function toLivekitMedia(
  services: Pick<Services, 'sealer'>,
  now: Date,
  { reference, name, roomName, role, connectionId }: Visitor,
  livekit: LivekitConnection,
): Promise<Media> {
  // Without a page, each answer is a connection of its own: LiveKit ends a connection when its identity comes again.
  const visitor = { reference, name, roomName, role, connectionId: connectionId ?? createLinkToken() };
  const { token, expiresAt } = await createLivekitToken(services, now, livekit, visitor);
  return {
    kind: 'livekit',
    url: toSocketUrl(livekit.origin),
    token,
    token_expires_at: toUnixSeconds(expiresAt),
  };
}
