/** The settings of meetings: the servers that browsers use to connect to each other, or to a LiveKit server. */
import { z } from 'zod';
import { parseServerUrl } from '../features/livekit/server-url.ts';

const MAX_SERVERS = 20;

/** A host name or an address, with an optional port (RFC 7064 and RFC 7065). */
const STUN = /^stuns?:(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
const TURN = /^turns?:(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?:\?transport=(?:udp|tcp))?$/;

const ICE_ERROR =
  'must be a comma-separated list of URLs such as stun:stun.example.com:3478, or a JSON array of objects with urls ' +
  'and, for TURN, username and credential';

const url = z.string().refine((value) => STUN.test(value) || TURN.test(value));

const JsonServers = z
  .array(
    z
      .strictObject({
        urls: z
          .array(url)
          .min(1)
          .or(url.transform((one) => [one])),
        username: z.string().min(1).optional(),
        credential: z.string().min(1).optional(),
      })
      .refine(
        ({ urls, username, credential }) => !urls.some(isTurn) || (username !== undefined && credential !== undefined),
      ),
  )
  .max(MAX_SERVERS);

/** `ICE_SERVERS`. Its error never repeats the value, which may have credentials. */
export const iceServers = z.string().transform((value, ctx) => {
  const servers = value.trim().startsWith('[') ? readJson(value) : readList(value);
  if (servers === null) ctx.addIssue(ICE_ERROR);
  return servers ?? z.NEVER;
});

/** `TURN_URLS`. */
export const turnUrls = z.string().transform((value, ctx) => {
  const urls = splitList(value);
  if (urls.length === 0 || urls.length > MAX_SERVERS || !urls.every(isTurn))
    ctx.addIssue(
      'must be a comma-separated list of URLs that begin with turn: or turns:, such as turn:turn.example.com',
    );
  return urls;
});

/** `LIVEKIT_URL`, as an origin. It may be a private address, since the operator names it. */
export const livekitUrl = z.string().transform((value, ctx) => {
  const url = parseServerUrl(value);
  if (typeof url === 'string') ctx.addIssue(url);
  return typeof url === 'string' ? z.NEVER : url.origin;
});

type IceServer = { urls: string[]; username?: string; credential?: string };

function readJson(value: string): IceServer[] | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    return null;
  }
  const { data } = JsonServers.safeParse(parsed);
  return (
    data?.map(({ urls, username, credential }) => ({
      urls,
      ...(username !== undefined && { username }),
      ...(credential !== undefined && { credential }),
    })) ?? null
  );
}

/** A TURN server needs credentials, so a list has only STUN servers. */
function readList(value: string): IceServer[] | null {
  const urls = splitList(value);
  if (urls.length === 0 || urls.length > MAX_SERVERS || !urls.every((one) => STUN.test(one))) return null;
  return urls.map((one) => ({ urls: [one] }));
}

function splitList(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}

function isTurn(value: string): boolean {
  return TURN.test(value);
}

/** Whether there is a TURN server, through which browsers can connect without seeing each other's address. */
export function hasTurn(config: {
  TURN_URLS?: readonly string[] | undefined;
  ICE_SERVERS?: readonly { urls: readonly string[] }[] | undefined;
}): boolean {
  return config.TURN_URLS !== undefined || (config.ICE_SERVERS ?? []).some(({ urls }) => urls.some(isTurn));
}
