/**
 * The endpoint `/mcp` for agents: the Streamable HTTP transport of MCP. It accepts API keys and the access tokens of
 * connected apps in the Authorization header, and never cookies, so no page can use the session of a browser.
 */
import type { AnyTRPCRouter } from '@trpc/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { badField } from '../core/errors.ts';
import { findUnboundedJson } from '../core/json-bounds.ts';
import { runBounded } from '../http/request-bounds.ts';
import { leaveBodiesUnparsed } from '../http/trpc-bodies.ts';
import type { Services } from '../services.ts';
import type { RawOperation } from '../trpc/raw-operation.ts';
import { checkSource } from './check-source.ts';
import type { McpAnswer, McpService } from './mcp-service.ts';
import { openSession } from './open-session.ts';
import { countRequest, type McpSession } from './session.ts';

/** A file in base64, and what is around it. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Headers of a request that the protocol reads. The credential is none of them. */
const protocolHeaders = ['accept', 'content-type', 'mcp-method', 'mcp-name', 'mcp-protocol-version'] as const;

export type McpApi = { router: AnyTRPCRouter; rawOperations: readonly RawOperation[] };

type Route = { Body: Buffer | undefined };

/** Adds the route. The SDK is loaded with the first request. */
export function serveMcp(app: FastifyInstance, services: Services, { router, rawOperations }: McpApi): void {
  const sessions = new WeakMap<FastifyRequest, McpSession>();
  let service: Promise<McpService> | undefined;
  const load = async (): Promise<McpService> => {
    const { createMcpService } = await import('./mcp-service.ts');
    return createMcpService(router, rawOperations);
  };
  const answer = async (session: McpSession, request: FastifyRequest<Route>): Promise<McpAnswer> => {
    service ??= load();
    const loaded = await service;
    try {
      const message = parseMessage(request.body);
      request.body = undefined;
      return await loaded.answer(session, toWebRequest(request), message);
    } finally {
      // A message that has reached no operation, such as `tools/list` or a malformed one.
      await countRequest(session);
    }
  };
  leaveBodiesUnparsed(app);
  app.route<Route>({
    method: 'POST',
    url: '/mcp',
    bodyLimit: MAX_MESSAGE_BYTES,
    // Unknown callers are rejected before their body is read.
    async onRequest(request, reply) {
      checkSource(request, services);
      const operation = { name: 'mcp', method: request.method };
      const session = await runBounded(request, reply, operation, () => openSession(services, request, reply));
      sessions.set(request, session);
    },
    async handler(request, reply) {
      const session = sessions.get(request);
      if (session === undefined) throw new Error('/mcp was called without its onRequest hook');
      const { status, headers, text } = await answer(session, request);
      const type = headers.get('content-type');
      reply.status(status);
      return type === null ? reply.send() : reply.header('content-type', type).send(text);
    },
  });
}

/** Throws 400 for a body that is not one JSON object, or that has too many values. */
function parseMessage(body: Buffer | undefined): object {
  const json = body ?? Buffer.alloc(0);
  const refusal = findUnboundedJson(json, MAX_MESSAGE_BYTES);
  if (refusal !== null) throw refusal;
  const message = parseJson(json.toString());
  if (Array.isArray(message)) throw badField('', 'Send one message in each request: batches are not supported');
  if (typeof message !== 'object' || message === null)
    throw badField('', 'Request body must be a JSON-RPC message, which is an object');
  return message;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw badField('', 'Request body must be valid JSON', cause);
  }
}

/** The SDK gets only what it needs. Its URL is not that of the service. */
function toWebRequest({ headers }: FastifyRequest<Route>): Request {
  const sent = protocolHeaders.flatMap((name): [string, string][] => {
    const value = headers[name];
    return value === undefined ? [] : [[name, String(value)]];
  });
  return new Request('http://localhost/mcp', { method: 'POST', headers: sent });
}
