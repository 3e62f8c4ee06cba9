/**
 * Answers the messages of MCP (https://modelcontextprotocol.io/specification). Each request is served on its own, so
 * any server of an installation can answer it. Both kinds of client are served: those that send the version with each
 * request (2026-07-28), and those that begin with `initialize`. This module is loaded with the first request, because
 * the SDK takes noticeable time and memory.
 */
import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { AnyTRPCRouter } from '@trpc/server';
import { AppError } from '../core/errors.ts';
import { httpStatusOf, toProblem } from '../core/problem.ts';
import { version } from '../core/version.ts';
import { fromUnexpected } from '../trpc/errors.ts';
import type { RawOperation } from '../trpc/raw-operation.ts';
import { toolsOfGroup } from './groups.ts';
import { requireOperation } from './mcp-operation.ts';
import { listMcpOperations } from './operations.ts';
import { listResources, listTemplates, readResource } from './resources.ts';
import { adviceFor, DATA_NOTE } from './results.ts';
import type { McpSession } from './session.ts';
import { type Catalogue, callNamedTool, listTools } from './tools.ts';

export type McpAnswer = { status: number; headers: Headers; text: string };

export type McpService = {
  /** Answers one message. `request` has its headers, and `message` is its parsed body. */
  answer(session: McpSession, request: Request, message: unknown): Promise<McpAnswer>;
};

const INVALID_PARAMS = -32_602;
const RESOURCE_NOT_FOUND = -32_002;
const INTERNAL_ERROR = -32_603;

const instructions =
  'Tools for one Lynxroom workspace: meeting rooms, a media library of PDFs and videos, recordings, bookings, ' +
  'contacts, analytics and webhooks. Times are Unix timestamps in seconds. Flags are 0 or 1. Lists return a page; ' +
  'pass `next_cursor` as `cursor` for the next one. Further operations: search_operations, then call_operation. Send ' +
  `an idempotency_key with each write, and the same one when you repeat it. ${DATA_NOTE}`;

export function createMcpService(router: AnyTRPCRouter, rawOperations: readonly RawOperation[]): McpService {
  const operations = listMcpOperations(router, rawOperations);
  const own = Object.values(toolsOfGroup).flatMap((names) => names.map((name) => requireOperation(operations, name)));
  const catalogue = { operations, tools: new Map(own.map((operation) => [operation.toolName, operation])) };
  return {
    async answer(session, request, message) {
      const createServer = (): Server => createSessionServer(catalogue, session);
      if (await isLegacyRequest(request, message)) {
        const server = createServer();
        const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
        try {
          await server.connect(transport);
          return await readAnswer(await transport.handleRequest(request, { parsedBody: message }));
        } finally {
          await server.close();
        }
      }
      // Nothing is announced later, so there is nothing to subscribe to.
      const handler = createMcpHandler(createServer, { legacy: 'reject', maxSubscriptions: 0 });
      try {
        return await readAnswer(await handler.fetch(request, { parsedBody: message }));
      } finally {
        await handler.close();
      }
    },
  };
}

async function readAnswer(response: Response): Promise<McpAnswer> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/**
 * The SDK recommends `McpServer`, which converts the schemas of all tools again for each request. These tools have
 * prepared schemas, and the operations validate the arguments, with the messages of the API.
 */
function createSessionServer(catalogue: Catalogue, session: McpSession): Server {
  const { operations } = catalogue;
  const server = new Server(
    { name: 'lynxroom', title: 'Lynxroom', version },
    { capabilities: { tools: {}, resources: {} }, instructions },
  );
  server.setRequestHandler('tools/list', () => ({ tools: listTools(catalogue, session) }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const result = await callNamedTool(catalogue, session, params.name, params.arguments ?? {});
    if (result !== null) return result;
    const shown = params.name.slice(0, 100);
    throw new ProtocolError(INVALID_PARAMS, `Unknown tool ${shown}: call tools/list, or search_operations`);
  });
  server.setRequestHandler('resources/list', ({ params }) =>
    protect(session, () => listResources(operations, session, params?.cursor)),
  );
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: listTemplates(operations, session),
  }));
  server.setRequestHandler('resources/read', ({ params }) =>
    protect(session, () => readResource(operations, session, params.uri)),
  );
  return server;
}

/** Converts errors to those of the protocol. The details of an unexpected error are only in the log. */
async function protect<Result>(session: McpSession, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const failure = error instanceof AppError ? error : fromUnexpected(error);
    session.logFailure(failure);
    const { code, request_id, issues } = toProblem(failure, session.context.requestId);
    const data = { code, request_id, ...(issues && { issues }), next: adviceFor(failure) };
    throw new ProtocolError(protocolCodeOf(failure), failure.message, data);
  }
}

function protocolCodeOf(error: AppError): number {
  const status = httpStatusOf(error);
  if (status === 404) return RESOURCE_NOT_FOUND;
  return status >= 500 ? INTERNAL_ERROR : INVALID_PARAMS;
}
