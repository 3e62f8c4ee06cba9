/**
 * Calls a LiveKit server (Twirp with JSON, docs.livekit.io/reference/server/server-apis). Not with the clients of the
 * SDK, which would connect to any address, and to the hosts that the server names when it fails.
 */
import type { Agent } from 'undici';
import { SECOND_MS } from '../../../core/time.ts';
import type { AddressGuard } from '../../../egress/address-guard.ts';
import type { LivekitServer } from '../../../services.ts';

/** `isTrusted`: the operator named its address, so it may be a private one. */
export type CalledServer = LivekitServer & { isTrusted: boolean };

const CONNECT_MS = 5 * SECOND_MS;
const CALL_MS = 10 * SECOND_MS;
const MAX_BYTES = 4 * 1024 * 1024;
const TOKEN_LIFETIME = '1m';

/** The server did not do what it was asked to. The message contains no secret and no address. */
export class LivekitFailed extends Error {}

type Grant = { room?: string; roomAdmin?: boolean; roomCreate?: boolean; roomRecord?: boolean };
/** `method` is one such as RoomService/ListParticipants. */
export type LivekitCall = { method: string; grant: Grant; body: unknown; signal: AbortSignal };

export type LivekitCaller = {
  /** Resolves with the JSON of the answer; null if the server has no such object. Throws LivekitFailed. */
  call(server: CalledServer, request: LivekitCall): Promise<unknown>;
  close(): Promise<void>;
};

/** Creates a client that connects only to addresses that the guard allows, and to trusted servers. */
export function createLivekitCaller(guard: AddressGuard): LivekitCaller {
  const agents = new Map<boolean, Promise<Agent>>();
  return {
    async call(server, request) {
      const agent = agents.get(server.isTrusted) ?? createAgent(server.isTrusted ? null : guard);
      agents.set(server.isTrusted, agent);
      return send(await agent, server, request);
    },
    async close() {
      for (const agent of agents.values()) await (await agent).destroy();
    },
  };
}

/** Loads the HTTP client on first use, because it takes 20 MB of memory. */
async function createAgent(guard: AddressGuard | null): Promise<Agent> {
  const { Agent } = await import('undici');
  const { createGuardedConnector } = await import('../../../egress/guarded-connector.ts');
  return new Agent({
    connect: guard === null ? { timeout: CONNECT_MS } : createGuardedConnector(guard, CONNECT_MS),
    allowH2: false,
    pipelining: 1,
    headersTimeout: CALL_MS,
    bodyTimeout: CALL_MS,
  });
}

async function send(
  agent: Agent,
  { origin, api_key, api_secret }: LivekitServer,
  { method, grant, body, signal }: LivekitCall,
): Promise<unknown> {
  const { AccessToken } = await import('livekit-server-sdk');
  const token = new AccessToken(api_key, api_secret, { ttl: TOKEN_LIFETIME });
  token.addGrant(grant);
  const headers = { authorization: `Bearer ${await token.toJwt()}`, 'content-type': 'application/json' };
  const request = { origin, path: `/twirp/livekit.${method}`, method: 'POST', headers } as const;
  const signals = AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]);
  try {
    const answer = await agent.request({ ...request, body: JSON.stringify(body), signal: signals });
    const text = await readText(answer.body);
    if (answer.statusCode === 200) return readMessage(() => JSON.parse(text));
    if (answer.statusCode === 404 && readCode(text) === 'not_found') return null;
    throw new LivekitFailed(`${nameOf(method)} was answered with the status ${answer.statusCode}`);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof LivekitFailed) throw error;
    throw new LivekitFailed(`${nameOf(method)} was not answered`, { cause: error });
  }
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new LivekitFailed('The answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The code of a Twirp error. A 404 without it is of something else than LiveKit. */
function readCode(text: string): unknown {
  const parsed: unknown = readMessage(() => JSON.parse(text));
  return typeof parsed === 'object' && parsed !== null && 'code' in parsed ? parsed.code : undefined;
}

/** Throws LivekitFailed if `read` throws. */
export function readMessage<Message>(read: () => Message): Message {
  try {
    return read();
  } catch (error) {
    throw new LivekitFailed('The answer is no message of LiveKit', { cause: error });
  }
}

function nameOf(method: string): string {
  return method.slice(method.indexOf('/') + 1);
}
