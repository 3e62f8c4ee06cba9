/** How the participants of a room exchange sound and pictures, as it is told to one of them. */
import { createLinkToken } from '../../auth/tokens.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { MAX_INT32 } from '../../core/validation.ts';
import { bool, int, nullable, oneOf, type Sql, text } from '../../db/statements.ts';
import type { Services, Settings } from '../../services.ts';
import {
  isConnection,
  type Livekit,
  type LivekitConnection,
  livekitOf,
  livekitReturns,
  nameOnServer,
} from '../livekit/connection.ts';
import { addRoomOnServer, type RoomOnServer, serversOfRoom, serversReturns } from '../livekit/rooms.ts';
import { toSocketUrl } from '../livekit/server-url.ts';
import { createLivekitToken, type LivekitVisitor } from '../livekit/token.ts';
import type { Media } from './schemas.ts';
import { createTurnServer } from './turn-server.ts';

/**
 * Where it is decided what carries the media of a room. `room`: the room or its workspace is set to `mesh`;
 * `connection`: the workspace has connections with meeting providers; `operator`: neither.
 */
type DecidedBy = 'room' | 'connection' | 'operator';

/** The columns of `carrierColumns`. */
export const carrierReturns = { decidedBy: oneOf<DecidedBy>(), ...livekitReturns };

/** The columns of `mediaColumnsOf`. */
export const mediaReturns = { relayOnly: bool, hasSeat: bool, seatsTaken: int, ...carrierReturns, ...serversReturns };

type CarrierRow = { decidedBy: DecidedBy; livekit: LivekitConnection | null };

export type MediaRow = CarrierRow & {
  relayOnly: boolean;
  hasSeat: boolean;
  seatsTaken: number;
  servers: RoomOnServer[] | null;
};

/** `mesh`: the browsers connect to each other; `none`: a provider carries the media without this service. */
type Carrier = { kind: 'mesh' | 'none' } | { kind: 'livekit'; livekit: Livekit };

/** The participant who gets the media. */
export type Visitor = { id: number; workspaceId: number; roomId: number; status: string; isHost: boolean } & Omit<
  LivekitVisitor,
  'connectionId'
> & {
    /** The page, if it is known. */
    connectionId?: string | undefined;
  };

/** Whether a page `g` has a seat now. `$now` is a parameter. A participant who has left has no page. */
export const isSeated = 'g.seated_at is not null and g.expires_at > $now';

/** Where it is decided what carries the media of the room `r`. */
const decidedBy = `(case when r.media is not null
      or exists (select from workspaces w where w.id = r.workspace_id and w.media is not null) then 'room'
    when exists (select from meeting_connections c where c.workspace_id = r.workspace_id) then 'connection'
    else 'operator' end)`;

/** The columns about what carries the media of the room `r`, for `toCarrier`. */
export const carrierColumns = `${decidedBy} as "decidedBy", ${livekitOf('r.workspace_id')}`;

/** The parameter of `mediaOrigin`: the origin of the operator's server. */
export const mediaOriginParams = { operatorOrigin: nullable(text) };

/** The origin of the LiveKit server that carries the media of the room `r`; null if there is none. */
export const mediaOrigin = `(case ${decidedBy} when 'operator' then $operatorOrigin when 'connection' then (
    select k.media_origin from meeting_connections k
    where k.workspace_id = r.workspace_id and k.media_origin is not null) end)`;

/** The value of `mediaOriginParams`. */
export function toMediaOriginParams({ meetings }: Pick<Settings, 'meetings'>): { operatorOrigin: string | null } {
  return { operatorOrigin: meetings.livekit?.origin ?? null };
}

/** What carries the media of the room `r`: `mesh`, `livekit` or `none`. Has the parameter of `mediaOrigin`. */
export const mediaKind = `(case when ${decidedBy} = 'room' or ${decidedBy} = 'operator' and $operatorOrigin is null
    then 'mesh' when ${mediaOrigin} is null then 'none' else 'livekit' end)`;

/** Returns what carries the media of a room. */
export function toCarrier(
  { meetings }: Pick<Settings, 'meetings'>,
  { decidedBy: by, livekit: own }: CarrierRow,
): Carrier {
  const livekit = by === 'operator' ? meetings.livekit : own;
  if (by === 'room' || (by === 'operator' && livekit === null)) return { kind: 'mesh' };
  return livekit === null ? { kind: 'none' } : { kind: 'livekit', livekit };
}

/** The number of seats that are taken in the room `r`. */
export const seatsTaken = `(
    select count(*)::int from meeting_pages g
    where g.workspace_id = r.workspace_id and g.room_id = r.id and ${isSeated})`;

/** The columns about the media of a participant in the room `r`. `participantId` is an expression. */
export function mediaColumnsOf(participantId: string): string {
  return `
    r.relay_only as "relayOnly", exists (
      select from meeting_pages g
      where g.workspace_id = r.workspace_id and g.participant_id = ${participantId} and ${isSeated}) as "hasSeat",
    ${seatsTaken} as "seatsTaken", ${carrierColumns}, ${serversOfRoom}`;
}

/**
 * How many seats there are for a person; 0 if a provider carries the media without this service. The last one of a mesh
 * is for a host, so that guests alone cannot keep hosts out. A LiveKit server has its own limit.
 */
export function seatsFor(
  { isHost, ...row }: { isHost: boolean } & CarrierRow,
  settings: Pick<Settings, 'meetings'>,
): number {
  const { kind } = toCarrier(settings, row);
  if (kind === 'mesh') return settings.meetings.maxParticipants + (isHost ? 1 : 0);
  return kind === 'none' ? 0 : MAX_INT32;
}

/**
 * Returns what a participant needs to exchange media; null unless they have joined. Call it in the transaction in which
 * they join, or after it. The credentials for TURN servers
 * work for 5 to 10 minutes by default, and stay the same for 5 minutes. So does the token for a LiveKit server.
 */
export async function toMedia(
  services: Pick<Services, 'settings' | 'sealer' | 'livekitEgress'>,
  { sql, now }: { sql: Sql; now: Date },
  visitor: Visitor,
  row: MediaRow,
): Promise<Media | null> {
  const { id, status, isHost } = visitor;
  if (status !== 'joined') return null;
  const { settings } = services;
  const carrier = toCarrier(settings, row);
  if (carrier.kind === 'livekit') return toLivekitMedia(services, { sql, now }, visitor, carrier.livekit, row.servers);
  if (carrier.kind === 'none') return { kind: 'none' };
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
  services: Pick<Services, 'sealer' | 'livekitEgress'>,
  { sql, now }: { sql: Sql; now: Date },
  { id, workspaceId, roomId, roomName: ownName, reference, name, role, connectionId }: Visitor,
  livekit: Livekit,
  servers: RoomOnServer[] | null,
): Promise<Media | null> {
  const roomName = nameOnServer(livekit, { roomName: ownName, roomId });
  // Without a page, each answer is a connection of its own: LiveKit ends a connection when its identity comes again.
  const visitor = { reference, name, roomName, role, connectionId: connectionId ?? createLinkToken() };
  const { token, expiresAt } = await createLivekitToken(services, now, livekit, visitor);
  const room = { workspaceId, roomId, participantId: id, roomName, servers, tokenUntil: expiresAt };
  if (!(await addRoomOnServer(sql, now, livekit, room))) return null;
  return {
    kind: 'livekit',
    url: toSocketUrl(livekit.origin),
    token,
    token_expires_at: toUnixSeconds(expiresAt),
    egress: role !== 'guest' && services.livekitEgress !== null && !isConnection(livekit) ? 1 : 0,
  };
}
