/**
 * The LiveKit server that carries the media of a workspace: the connection of its owner that has a `url`, or that of
 * the operator for a workspace without connections.
 */
import { z } from 'zod';
import { badField } from '../../core/errors.ts';
import type { Sealer } from '../../core/sealing.ts';
import { json, nullable } from '../../db/statements.ts';
import type { LivekitServer, Services } from '../../services.ts';
import { parseServerUrl } from './server-url.ts';

/** As the statements of `livekitOf` return it. `sealed` is in base64. */
export type LivekitConnection = { workspaceId: number; origin: string; sealed: string };

/** The server of a workspace, or that of the operator. */
export type Livekit = LivekitConnection | LivekitServer;

export const livekitReturns = { livekit: nullable(json<LivekitConnection>('json')) };

/** A column with the LiveKit server of a workspace; null if it has none. `workspaceId` is an expression. */
export function livekitOf(workspaceId: string): string {
  return `(
    select json_build_object('workspaceId', k.workspace_id, 'origin', k.media_origin,
      'sealed', encode(k.sealed_credentials, 'base64'))
    from meeting_connections k where k.workspace_id = ${workspaceId} and k.media_origin is not null) as livekit`;
}

/** The part of the stored credentials of a connection that signs requests and tokens. */
const Stored = z.object({ current: z.object({ api_key: z.string(), api_secret: z.string() }) });

/** Returns what calls the server and signs tokens for it. Opens the current credentials of a connection. */
export function openLivekit(sealer: Sealer, livekit: Livekit): LivekitServer {
  if (!isConnection(livekit)) return livekit;
  const { workspaceId, origin, sealed } = livekit;
  const text = sealer.open(Buffer.from(sealed, 'base64'), { workspaceId, purpose: 'meeting credentials' });
  return { origin, ...Stored.parse(JSON.parse(text)).current };
}

/** Whether the server is that of a workspace, at an address that a stranger chose. */
export function isConnection(livekit: Livekit): livekit is LivekitConnection {
  return 'sealed' in livekit;
}

/**
 * The name of a room on its server. All workspaces share that of the operator, where the ID tells a room from a later
 * one with its name, whose people must not meet those who are still connected.
 */
export function nameOnServer(livekit: Livekit, { roomName, roomId }: { roomName: string; roomId: number }): string {
  return isConnection(livekit) ? roomName : `${roomName}.${roomId}`;
}

/**
 * Returns the origin of a LiveKit server, with the scheme https, or http on this machine. Throws 400 for a URL that is
 * none, and for one that the service must not reach. Do not call it in a transaction, because it may query DNS.
 */
export async function toMediaOrigin({ addressGuard }: Pick<Services, 'addressGuard'>, text: string): Promise<string> {
  const url = parseServerUrl(text);
  if (typeof url === 'string') throw badField('credentials.url', `credentials.url ${url}`);
  const refusal = await addressGuard.refusalOf(url.origin);
  if (refusal !== null) throw badField('credentials.url', `credentials.${refusal}`);
  return url.origin;
}
