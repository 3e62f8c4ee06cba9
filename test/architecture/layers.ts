/**
 * Which part of the source may import which. It is the one statement of the layers; `layers.test.ts` holds the code to
 * it.
 */
import { posix } from 'node:path';

/** A folder of `src` (a layer), one feature (`features/rooms`), or a file that stands alone (`services.ts`). */
export type Part = string;

const BASE = ['core', 'db'];
const LOW = [...BASE, 'auth', 'events', 'storage', 'services.ts'];

/**
 * What each layer may import besides itself. What is not listed is forbidden. `features/*` stands for every feature.
 */
export const layers: Record<Part, readonly Part[]> = {
  core: [],
  db: ['core'],
  storage: BASE,
  events: BASE,
  jobs: BASE,
  auth: BASE,
  egress: BASE,
  // The type of everything that operations reach the world through.
  'services.ts': [...BASE, 'auth', 'egress', 'storage'],
  media: LOW,
  'webhook-delivery': [...LOW, 'jobs', 'egress'],
  'features/*': [...LOW, 'media'],
  trpc: [...BASE, 'auth', 'media', 'services.ts'],
  routers: ['core', 'auth', 'events', 'media', 'trpc', 'features/*'],
  // Transport and document: the operations are handed to them.
  http: ['core', 'auth', 'storage', 'media', 'trpc', 'services.ts'],
  openapi: ['core', 'events', 'trpc'],
  runtime: [...LOW, 'jobs', 'egress', 'webhook-delivery', 'features/*', 'routers', 'trpc', 'http', 'openapi'],
  'server.ts': ['runtime'],
  'worker.ts': ['runtime'],
  'client.ts': ['events', 'features/*', 'routers'],
};

/** What a feature may import besides what every feature may: other features, and tools that few need. */
export const features: Record<string, readonly Part[]> = {
  analytics: [],
  'api-keys': [],
  auth: ['features/members', 'features/workspaces'],
  'booking-pages': [],
  bookings: ['features/booking-pages', 'features/contacts', 'features/rooms'],
  contacts: [],
  labels: [],
  library: [],
  'meeting-providers': ['features/participants', 'features/recordings', 'egress', 'jobs'],
  members: ['features/booking-pages', 'features/rooms'],
  participants: ['features/contacts'],
  recordings: ['features/library', 'features/rooms'],
  retention: [],
  rooms: ['features/participants'],
  webhooks: ['webhook-delivery'],
  workspaces: ['features/members'],
};

/** Packages that only these layers may import. A package that is not listed may be used by every layer above `core`. */
export const packages: Record<string, readonly Part[]> = {
  fastify: ['http', 'openapi', 'runtime'],
  '@fastify': ['http', 'openapi', 'runtime'],
  '@trpc/server': ['trpc', 'http', 'openapi', 'client.ts'],
  '@trpc/client': ['client.ts'],
  'trpc-to-openapi': ['trpc', 'openapi'],
  '@lynxroom/embedded-postgres': ['db'],
  '@prisma': ['db'],
  pg: ['db'],
  'pg-boss': ['jobs', 'webhook-delivery', 'features/meeting-providers'],
  undici: ['egress', 'webhook-delivery', 'features/meeting-providers'],
  '@aws-sdk': ['storage'],
  busboy: ['http'],
  pino: ['runtime'],
  zod: ['core', 'events', 'trpc', 'openapi', 'http', 'runtime', 'features/*'],
};

/**
 * What the code of each workspace package in `packages/` may import besides itself and Node's own modules. A package
 * knows nothing of `src`.
 */
export const workspacePackages: Record<string, readonly string[]> = {
  'embedded-postgres': [],
};

/** All that `core` may import from outside. */
const CORE_PACKAGES = ['zod'];

function isBuiltIn(specifier: string): boolean {
  return specifier.startsWith('node:');
}

/** The part that a path such as `src/features/rooms/read-rooms.ts` belongs to. */
export function partOf(path: string): Part {
  const [, folder = '', next = ''] = path.split('/');
  return folder === 'features' ? `features/${next}` : folder;
}

function isListed(list: readonly Part[], part: Part): boolean {
  return list.includes(part) || (part.startsWith('features/') && list.includes('features/*'));
}

function mayImport(from: Part, to: Part): boolean {
  if (from === to) return true;
  const feature = from.startsWith('features/') ? from.slice('features/'.length) : null;
  if (feature === null) return isListed(layers[from] ?? [], to);
  return [...(layers['features/*'] ?? []), ...(features[feature] ?? [])].includes(to);
}

function packageRule(specifier: string): readonly Part[] | undefined {
  const scope = specifier.split('/')[0] ?? '';
  const name = scope.startsWith('@') ? specifier.split('/').slice(0, 2).join('/') : scope;
  return packages[name] ?? packages[scope];
}

/** Why the file at `path` may not import `specifier`, in one line; null where it may. */
export function refusalOf(path: string, specifier: string): string | null {
  if (path.startsWith('packages/')) return refusalOfPackage(path, specifier);
  const from = partOf(path);
  if (isBuiltIn(specifier)) {
    const isHttp = ['node:http', 'node:https', 'node:net'].includes(specifier);
    return from === 'core' && isHttp ? `${path}: core knows no network, so it may not import ${specifier}` : null;
  }
  if (!specifier.startsWith('.')) {
    if (from === 'core' && !CORE_PACKAGES.includes(specifier)) return `${path}: core may not import ${specifier}`;
    const allowed = packageRule(specifier);
    return allowed === undefined || isListed(allowed, from) ? null : `${path}: ${from} may not import ${specifier}`;
  }
  const target = posix.join(posix.dirname(path), specifier);
  if (!target.startsWith('src/')) return `${path}: src may not import ${target}`;
  const to = partOf(target);
  // A router is declared once and knows no other; `index.ts` alone puts them together.
  if (from === 'routers' && to === 'routers' && path !== 'src/routers/index.ts')
    return `${path}: a router may not import another router (${target})`;
  return mayImport(from, to) ? null : `${path}: ${from} may not import ${to} (${target})`;
}

function refusalOfPackage(path: string, specifier: string): string | null {
  if (isBuiltIn(specifier)) return null;
  const [, name = ''] = path.split('/');
  const target = posix.join(posix.dirname(path), specifier);
  const isAllowed = specifier.startsWith('.')
    ? target.startsWith(`packages/${name}/src/`)
    : (workspacePackages[name] ?? []).includes(specifier);
  return isAllowed ? null : `${path}: the package ${name} may not import ${specifier}`;
}

const IMPORT = /^(?:import|export)\b[^;]*?\bfrom\s*'([^']+)'|^import\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;

/** Every module that a source text imports or re-exports, types included. */
export function importsOf(source: string): string[] {
  return [...source.matchAll(IMPORT)].map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '');
}
