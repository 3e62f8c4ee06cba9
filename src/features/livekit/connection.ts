/** The LiveKit server that carries the media of a workspace: the connection of its owner that has a `url`. */
import { z } from 'zod';
import { badField } from '../../core/errors.ts';
import type { Sealer } from '../../core/sealing.ts';
import { onlyRow } from '../../db/only-row.ts';
import { int, json, nullable, type Sql, statement } from '../../db/statements.ts';
import type { Services } from '../../services.ts';

/** As the statements of `livekitOf` return it. `sealed` is in base64. */
export type LivekitConnection = { workspaceId: number; origin: string; sealed: string };

export const livekitReturns = { livekit: nullable(json<LivekitConnection>('json')) };

/** A column with the LiveKit server of a workspace; null if it has none. `workspaceId` is an expression. */
export function livekitOf(workspaceId: string): string {
  return `(
    select json_build_object('workspaceId', k.workspace_id, 'origin', k.media_origin,
      'sealed', encode(k.sealed_credentials, 'base64'))
    from meeting_connections k where k.workspace_id = ${workspaceId} and k.media_origin is not null) as livekit`;
}

const connectionOf = statement('find-livekit', {
  params: { workspaceId: int },
  returns: livekitReturns,
  sql: `select ${livekitOf('$workspaceId')}`,
});

/** Finds the LiveKit server of a workspace; null if it has none. */
export async function findLivekit(sql: Sql, workspaceId: number): Promise<LivekitConnection | null> {
  return onlyRow(await sql.run(connectionOf, { workspaceId })).livekit;
}

/** The part of the stored credentials of a connection that signs requests and tokens. */
const Stored = z.object({ current: z.object({ api_key: z.string(), api_secret: z.string() }) });

/** Opens the current credentials of the connection. */
export function openLivekitKey(sealer: Sealer, { workspaceId, sealed }: LivekitConnection) {
  const text = sealer.open(Buffer.from(sealed, 'base64'), { workspaceId, purpose: 'meeting credentials' });
  return Stored.parse(JSON.parse(text)).current;
}

/** Matches the text, because the URL parser also accepts `http:host` and `wss://user@host`. */
const SERVER_URL = /^(?:wss?|https?):\/\/[^/?#\\@]+\/?$/i;
const LOOPBACK_HOST = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Returns the origin of a LiveKit server, with the scheme https, or http on this machine. Throws 400 for a URL that is
 * none, and for one that the service must not reach. Do not call it in a transaction, because it may query DNS.
 */
export async function toMediaOrigin({ addressGuard }: Pick<Services, 'addressGuard'>, text: string): Promise<string> {
  const url = SERVER_URL.test(text) ? URL.parse(text.replace(/^ws/i, 'http')) : null;
  if (url === null || url.host === '')
    throw badField(
      'credentials.url',
      'credentials.url must be a URL such as wss://livekit.example.com, without a path',
    );
  // Tokens travel in the URL of the connection.
  if (url.protocol !== 'https:' && !LOOPBACK_HOST.test(url.hostname))
    throw badField('credentials.url', 'credentials.url must begin with wss:// or https://');
  const refusal = await addressGuard.refusalOf(url.origin);
  if (refusal !== null) throw badField('credentials.url', `credentials.${refusal}`);
  return url.origin;
}

/** The URL that browsers connect to. */
export function toSocketUrl(origin: string): string {
  return origin.replace(/^http/, 'ws');
}
