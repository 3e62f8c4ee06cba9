/**
 * A hand-written server with the same duties as ours: it authenticates by the hash of a key or session token, checks
 * the role, counts the call against the rate limit, writes a log line, validates input and output with the same
 * schemas, and adds events. It uses Fastify and named statements of `pg`, and neither tRPC nor Prisma.
 */
import { createHash } from 'node:crypto';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import pg from 'pg';
import pino from 'pino';
import { CALLER_BY_KEY, CALLER_BY_SESSION } from './statements.ts';

export type Caller = { userId: number; name: string; workspaceId: number | null; role: string | null };
type Statement = { name: string; text: string };

/** An error with a status for the caller. */
export class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const WINDOW_MS = 60_000;
const MAX_CALLS = 100_000_000;
const headers = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
};

const log = pino();
const windows = new Map<string, { calls: number; endsAt: number }>();
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: 16,
  options: '-c jit=off -c plan_cache_mode=force_generic_plan -c timezone=UTC',
});

export const app = Fastify({ logger: false, genReqId: () => crypto.randomUUID() });

app.addHook('onResponse', (request, reply, done) => {
  const { method, url, id } = request;
  log.info({ requestId: id, method, url, status: reply.statusCode, ms: reply.elapsedTime }, 'Request');
  done();
});

app.setErrorHandler((error, request, reply) => {
  const isZodError = error instanceof Error && error.name === 'ZodError';
  const status = error instanceof Refusal ? error.status : isZodError ? 400 : 500;
  if (status === 500) log.error({ err: error }, 'Request failed');
  const message = status === 500 || !(error instanceof Error) ? 'Internal server error' : error.message;
  return reply.code(status).send({ error: message, message, request_id: request.id });
});

setInterval(() => {
  const now = performance.now();
  for (const [key, { endsAt }] of windows) if (endsAt <= now) windows.delete(key);
}, WINDOW_MS);

/** Runs a named statement. */
export async function run<Row extends object>({ name, text }: Statement, values: unknown[]): Promise<Row[]> {
  const { rows } = await pool.query<Row>({ name, text, values });
  return rows;
}

/**
 * Finds the caller, counts the call, and checks that they have one of the roles in the workspace. Without a workspace,
 * it is that of the key.
 */
export async function requireCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  workspaceId: number | null,
  roles: readonly string[],
): Promise<Caller & { workspaceId: number }> {
  const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
  const statement = token.startsWith('lnx_') ? CALLER_BY_KEY : CALLER_BY_SESSION;
  const [caller] = await run<Caller>(statement, [hashToken(token), workspaceId]);
  if (caller === undefined) throw new Refusal(401, 'Unauthorized');
  countCall(`user:${caller.userId}:${workspaceId}`, reply);
  if (caller.workspaceId === null) throw new Refusal(404, 'Workspace not found');
  if (caller.role === null || !roles.includes(caller.role)) throw new Refusal(403, 'Forbidden');
  return { ...caller, workspaceId: caller.workspaceId };
}

/** Counts a call in a window of a minute. */
export function countCall(key: string, reply: FastifyReply): void {
  const now = performance.now();
  let window = windows.get(key);
  if (window === undefined || window.endsAt <= now) {
    window = { calls: 0, endsAt: now + WINDOW_MS };
    windows.set(key, window);
  }
  window.calls += 1;
  reply.header('ratelimit-limit', String(MAX_CALLS));
  reply.header('ratelimit-remaining', String(Math.max(0, MAX_CALLS - window.calls)));
  reply.header('ratelimit-reset', String(Math.ceil((window.endsAt - now) / 1000)));
  if (window.calls > MAX_CALLS) throw new Refusal(429, 'Too many requests');
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Sends an output that was validated. */
export function send(request: FastifyRequest, reply: FastifyReply, output: object, status = 200): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .header('x-request-id', request.id)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(output));
}
