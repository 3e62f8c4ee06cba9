/**
 * Which part of the source may import which. This is the only statement of the layers, and `layers.test.ts` enforces it
 * for `src` and `packages`. Tests, benches, examples and scripts may import everything.
 */
import { posix } from 'node:path';
import type { Import } from './imports.ts';

/** A folder of `src` (a layer), one feature (`features/rooms`), or a file directly in `src` (`services.ts`). */
export type Part = string;

const BASE = ['core', 'db'];
const LOW = [...BASE, 'audit', 'auth', 'events', 'quotas', 'storage', 'services.ts'];

/** What each layer may import besides itself. Everything else is forbidden. `features/*` stands for every feature. */
export const layers: Record<Part, readonly Part[]> = {
  core: [],
  // The texts for guests, which the console builds in too: nothing else may come with them.
  languages: [],
  db: ['core'],
  storage: BASE,
  events: BASE,
  jobs: BASE,
  audit: BASE,
  auth: [...BASE, 'audit'],
  quotas: BASE,
  // Re-seals what was sealed with an earlier key. It knows the tables by their names alone.
  'key-rotation': BASE,
  backup: [...BASE, 'storage'],
  egress: BASE,
  // The type of everything that an operation needs besides its input.
  'services.ts': [...BASE, 'auth', 'egress', 'live-updates', 'quotas', 'storage'],
  mail: [...LOW, 'jobs', 'languages'],
  // The streams of events, and the reader of the event log that serves them.
  'live-updates': [...BASE, 'events', 'jobs'],
  media: LOW,
  'webhook-delivery': [...LOW, 'jobs', 'egress'],
  'features/*': [...LOW, 'languages', 'live-updates', 'mail', 'media'],
  // Wraps services, and observes calls, jobs and attempts.
  metrics: [...BASE, 'auth', 'live-updates', 'storage', 'services.ts', 'jobs', 'mail', 'webhook-delivery', 'http'],
  trpc: [...BASE, 'auth', 'events', 'languages', 'live-updates', 'media', 'services.ts'],
  routers: ['core', 'auth', 'events', 'media', 'trpc', 'features/*'],
  // Transports and document: `runtime` passes the operations to them.
  http: ['core', 'auth', 'languages', 'live-updates', 'storage', 'media', 'trpc', 'services.ts'],
  openapi: ['core', 'events', 'trpc'],
  docs: ['core', 'openapi'],
  // The small pages that links in mail lead to.
  pages: [...BASE, 'auth', 'http', 'languages', 'mail', 'services.ts'],
  // The endpoint for agents.
  mcp: ['core', 'auth', 'http', 'media', 'trpc', 'services.ts'],
  // The endpoints with which agents get access for people.
  oauth: ['core', 'auth', 'http', 'trpc', 'features/*', 'services.ts'],
  // The built console.
  console: ['core', 'http'],
  runtime: [
    ...LOW,
    'live-updates',
    'key-rotation',
    'jobs',
    'egress',
    'mail',
    'webhook-delivery',
    'features/*',
    'routers',
    'trpc',
    'http',
    'metrics',
    'docs',
    'pages',
    'mcp',
    'oauth',
    'console',
  ],
  'server.ts': ['runtime'],
  'worker.ts': ['runtime'],
  // The commands for operators.
  operator: [...LOW, 'key-rotation', 'backup', 'mail', 'runtime', 'features/*'],
  'lynxroom.ts': ['operator', 'runtime'],
};

/** What a feature may import besides what every feature may: other features, and layers that few features need. */
export const features: Record<string, readonly Part[]> = {
  analytics: [],
  apps: ['features/auth'],
  'api-keys': [],
  audit: ['features/contacts'],
  auth: ['features/booking-mails', 'features/members', 'features/workspaces'],
  'booking-pages': ['features/booking-mails'],
  'booking-mails': ['features/contacts'],
  bookings: [
    'features/booking-mails',
    'features/booking-pages',
    'features/branding',
    'features/contacts',
    'features/rooms',
  ],
  branding: [],
  'calendar-feed': ['features/auth', 'features/booking-pages'],
  contacts: [],
  events: [],
  invitations: ['features/auth', 'features/branding', 'features/members', 'features/workspaces'],
  labels: [],
  embedding: ['features/peers'],
  'embed-tokens': [],
  'link-previews': ['features/peers'],
  livekit: [],
  library: [],
  'meeting-providers': ['features/livekit', 'features/participants', 'features/recordings', 'egress', 'jobs'],
  'media-jobs': ['features/library', 'features/recordings', 'jobs'],
  meetings: [],
  members: ['features/booking-pages', 'features/rooms'],
  moderation: ['features/livekit', 'features/participants', 'features/peers', 'features/recordings', 'features/rooms'],
  openid: ['features/auth'],
  participants: ['features/contacts', 'features/peers'],
  peers: ['features/livekit'],
  people: ['features/bookings', 'features/participants', 'webhook-delivery'],
  passkeys: ['features/auth'],
  recordings: ['features/library', 'features/livekit', 'features/peers', 'features/rooms'],
  retention: ['features/library', 'features/recordings', 'features/trash'],
  'room-passes': ['features/participants'],
  rooms: ['features/booking-mails', 'features/branding', 'features/participants', 'features/peers'],
  webhooks: ['webhook-delivery'],
  search: [],
  trash: ['features/library', 'features/recordings', 'features/rooms'],
  uploads: ['features/library', 'features/recordings'],
  workspaces: ['features/booking-mails', 'features/branding', 'features/members'],
};

/** Folders that only their own layer may import. */
const internals: readonly string[] = ['src/db/generated/'];

/** Which parts may import a package, or the packages of a scope. Other packages are forbidden. */
export const packages: Record<string, readonly Part[]> = {
  '@aws-sdk': ['storage'],
  '@fastify': ['http', 'runtime'],
  '@lynxroom/cli': ['operator'],
  '@lynxroom/embedded-postgres': ['db'],
  '@modelcontextprotocol/server': ['mcp'],
  '@node-rs/argon2': ['auth'],
  '@opentelemetry': ['core'],
  '@prisma': ['db'],
  '@trpc/server': ['trpc', 'http', 'openapi', 'mcp'],
  busboy: ['http'],
  croner: ['jobs'],
  'csv-parse': ['features/contacts'],
  'csv-stringify': ['features/analytics', 'features/audit', 'features/contacts'],
  '@scalar': ['docs'],
  '@simplewebauthn/server': ['features/passkeys'],
  fastify: ['http', 'docs', 'pages', 'mcp', 'oauth', 'console', 'runtime'],
  'file-type': ['media'],
  jose: ['features/meeting-providers'],
  marked: ['docs'],
  'ical-generator': ['mail'],
  nodemailer: ['mail'],
  'livekit-server-sdk': ['features/livekit', 'features/meeting-providers'],
  luxon: ['core'],
  'openid-client': ['auth'],
  pg: ['db'],
  'pg-copy-streams': ['backup'],
  mediabunny: ['media'],
  pino: ['runtime'],
  'pino-pretty': ['runtime'],
  'prom-client': ['metrics'],
  'trpc-to-openapi': ['trpc', 'openapi'],
  '@livekit/protocol': ['features/meeting-providers'],
  undici: ['egress', 'webhook-delivery', 'features/meeting-providers'],
  zod: ['backup', 'core', 'events', 'trpc', 'openapi', 'mcp', 'runtime', 'features/*'],
};

/** Development dependencies that `src` uses if they are installed, and does without if not. */
export const optionalPackages: readonly string[] = ['pino-pretty'];

/** The modules of Node that `core` may not import: it knows no network and starts no process. */
const notInCore = /^node:(?:http2?|https|net|tls|dgram|dns|child_process|cluster|worker_threads)(?:\/|$)/;

/**
 * What the code of each workspace package in `packages/` may import besides itself. A package knows nothing of `src`,
 * except that the client takes its types from there. The command line is packed together with the client.
 */
export const workspacePackages: Record<string, readonly string[]> = {
  cli: ['node:', 'packages/client/src/index.ts'],
  // Its modules of meetings import the client by its name, as other projects do.
  client: ['@trpc/client', '@trpc/server', '@trpc/server/observable', '@lynxroom/client'],
  'embedded-postgres': ['node:'],
  react: ['react'],
};

/** The only file of a package that may import from `src`, and only types. */
const CLIENT_CONTRACT = 'packages/client/src/contract.ts';

/** Why the file at `path` may not have the import, in one line. Null if it may. */
export function refusalOf(path: string, found: Import): string | null {
  const { specifier } = found;
  const target = isRelative(specifier) ? resolve(path, specifier) : specifier;
  return mayImport(path, target, found) ? null : `${path} may not import ${target}`;
}

/** `target` is the path of a relative import, and otherwise the specifier. */
function mayImport(path: string, target: string, found: Import): boolean {
  const { specifier } = found;
  const [top, name = ''] = path.split('/');
  if (top === 'packages') return packageMayImport(path, name, target, found);
  if (top !== 'src') return true;
  return isRelative(specifier) ? mayImportFile(path, target) : mayImportModule(partOf(path), specifier);
}

/** The part that a path such as `src/features/rooms/read-rooms.ts` belongs to. */
export function partOf(path: string): Part {
  const [, folder = '', next = ''] = path.split('/');
  return folder === 'features' ? `features/${next}` : folder;
}

/** The path of a relative import. */
export function resolve(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier);
}

/** The entry of `packages` for a specifier such as `zod/v4`. Undefined if no part may import it. */
export function packageOf(specifier: string): string | undefined {
  const [scope = '', name = ''] = specifier.split('/');
  return [scope.startsWith('@') ? `${scope}/${name}` : scope, scope].find((key) => key in packages);
}

export function isRelative(specifier: string): boolean {
  return specifier.startsWith('.');
}

function mayImportFile(path: string, target: string): boolean {
  if (!target.startsWith('src/')) return false;
  const [from, to] = [partOf(path), partOf(target)];
  if (from === to) {
    // Only the index joins the routers. No other router knows one.
    return from !== 'routers' || path === 'src/routers/index.ts';
  }
  const isInternal = internals.some((folder) => target.startsWith(folder));
  return !isInternal && isListed(allowedFor(from), to);
}

/** What a part may import. Empty if the tables do not list the part. */
function allowedFor(from: Part): readonly Part[] {
  if (!from.startsWith('features/')) return layers[from] ?? [];
  const own = features[from.slice('features/'.length)];
  return own ? [...(layers['features/*'] ?? []), ...own] : [];
}

function mayImportModule(from: Part, specifier: string): boolean {
  if (specifier.startsWith('node:')) return from !== 'core' || !notInCore.test(specifier);
  const name = packageOf(specifier);
  return name !== undefined && isListed(packages[name] ?? [], from);
}

function isListed(list: readonly Part[], part: Part): boolean {
  return list.includes(part) || (part.startsWith('features/') && list.includes('features/*'));
}

function packageMayImport(path: string, name: string, target: string, { specifier, isTypeOnly }: Import): boolean {
  const listed = workspacePackages[name];
  if (listed === undefined) return false;
  if (path === CLIENT_CONTRACT && isTypeOnly && target.startsWith('src/')) return true;
  if (isRelative(specifier)) return target.startsWith(`packages/${name}/src/`) || listed.includes(target);
  return listed.includes(specifier.startsWith('node:') ? 'node:' : specifier);
}
