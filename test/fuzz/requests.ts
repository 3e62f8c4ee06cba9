/** Random requests: valid calls of every operation by every caller, with some of their parts made invalid. */

import { invalidTokens, UNKNOWN_ID } from '../contract/invalid-values.ts';
import { type CallerName, callerNames } from '../contract/matrix/callers.ts';
import { rows } from '../contract/operations.ts';
import type { Row } from '../contract/row.ts';
import { foreignChildren } from '../contract/scene.ts';
import type { Input } from '../contract/transports.ts';
import type { FuzzWorld } from './fuzz-world.ts';
import { createRandom, type Random } from './random.ts';
import { hostileText, hostileValue } from './values.ts';
import { type WrittenRequest, writeRequest } from './write-request.ts';

export type FuzzRequest = WrittenRequest & { caller: CallerName };

/** They end what most other requests need: a session, a membership, or the workspace. */
const DESTRUCTIVE = [
  'auth.logout',
  'auth.updateMe',
  'auth.deleteMe',
  'workspaces.delete',
  'members.changeRole',
  'members.remove',
  'rooms.delete',
];

/** All operations, in the order of the requests. The destructive ones come last in each round. */
const names = [...Object.keys(rows).filter((name) => !DESTRUCTIVE.includes(name)), ...DESTRUCTIVE];

/** The number of requests after which every operation has had its turn. */
export const ROUND = names.length;
const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'] as const;
const CONTENT_TYPES = [
  'application/json',
  'application/json; charset=utf-16',
  'text/plain',
  'text/csv',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'x/y; z',
  '',
];
const HEADERS: readonly Record<string, string>[] = [
  { accept: 'text/html' },
  { accept: 'application/json' },
  { 'accept-encoding': 'gzip, br;q=0' },
  { 'content-encoding': 'gzip' },
  { cookie: 'session=x; session=y' },
  { cookie: '=;;=' },
  { origin: 'https://evil.example' },
  { 'x-forwarded-for': '10.0.0.1, ::1' },
  { 'x-request-id': '<b>' },
  { range: 'bytes=5-1' },
  { 'if-none-match': '*' },
  { 'trpc-accept': 'application/jsonl' },
  { 'x-http-method-override': 'DELETE' },
];
const OTHER_PATHS = [
  '/',
  '/api',
  '/api/',
  '/trpc',
  '/trpc/',
  '/trpc/nothing.here',
  '/docs',
  '/docs/static/%2e%2e',
  '/docs/json',
  '/files/',
  '/files/x',
  '/files/%00',
  '/files/%2e%2e%2fsecret?expires=1&signature=x',
  '/openapi.json',
  '/health',
  '/ready',
  '/api/%',
  '/api/%ff',
  '/api/workspaces/%2e%2e/%2e%2e',
  '/api//workspaces',
  '/api/workspaces?__proto__=1',
  '/favicon.ico',
  '/constructor',
  '/api/ingest/x',
  '/join/x',
];

/** The request with the number `index` of the run with the seed `seed`. */
export async function createRequest(world: FuzzWorld, seed: number, index: number): Promise<FuzzRequest> {
  const random = createRandom(seed * 1_000_003 + index);
  if (random.chance(0.02)) return otherRequest(random);
  // In turn, so that no operation is left out.
  const name = names[index % names.length] ?? '';
  const row = rows[name];
  if (!row) throw new Error(`No row ${name}`);
  const caller = random.chance(0.6) ? 'owner' : random.pick(callerNames);
  const input = createInput(random, world, row, caller);
  const headers: Record<string, string> = {};
  const token = random.chance(0.03) ? random.pick(invalidTokens) : world.callers[caller].token;
  if (token !== undefined && row.who !== 'provider') headers.authorization = `Bearer ${token}`;
  const request = await writeRequest(random, world.scene, { name, row, input });
  const isChanged = random.chance(0.04);
  return {
    ...request,
    caller,
    headers: {
      ...headers,
      ...request.headers,
      ...(random.chance(0.06) && random.pick(HEADERS)),
      ...(random.chance(0.03) && { 'content-type': random.pick(CONTENT_TYPES) }),
    },
    ...(isChanged && changeMethod(random, request)),
  };
}

function otherRequest(random: Random): FuzzRequest {
  const method = random.pick(METHODS);
  const body = method === 'GET' || method === 'HEAD' || random.chance(0.5) ? null : hostileText(random);
  const headers = { 'content-type': random.pick(CONTENT_TYPES) };
  return { title: 'another path', caller: 'anonymous', method, path: random.pick(OTHER_PATHS), headers, body };
}

function changeMethod(random: Random, { body }: Pick<FuzzRequest, 'body'>): Pick<FuzzRequest, 'method' | 'body'> {
  const method = random.pick(METHODS);
  return { method, body: method === 'GET' || method === 'HEAD' ? null : body };
}

/** The input of the operation's row, unchanged in one request in four. */
function createInput(random: Random, world: FuzzWorld, row: Row, caller: CallerName): Input {
  const { scene, callers } = world;
  const input = { ...row.input(scene, callers[caller].user) };
  if (random.chance(0.25)) return input;
  if (random.chance(0.15)) return reachForVault(random, world, row, input);
  const foreign = foreignChildren(scene);
  const changes = 1 + random.integer(2);
  for (let change = 0; change < changes; change += 1) {
    const field = random.pick([...Object.keys(input), 'limit', 'offset', 'cursor', 'unknown_field']);
    const kind = random.next();
    if (kind < 0.1) delete input[field];
    else if (kind < 0.15) input[field] = UNKNOWN_ID;
    else if (kind < 0.2 && field in foreign) input[field] = foreign[field];
    else input[field] = hostileValue(random);
  }
  return input;
}

/** Names the workspace that nobody may reach, its content, or both. */
function reachForVault(random: Random, { vault }: FuzzWorld, row: Row, input: Input): Input {
  const workspace = row.workspace ?? 'id';
  const fields = Object.entries(vault.children).filter(([field]) => field in input);
  const kind = random.integer(2);
  return {
    ...input,
    ...(workspace in input && kind > 0 && { [workspace]: vault.workspaceId }),
    ...(kind < 2 && Object.fromEntries(fields)),
  };
}
