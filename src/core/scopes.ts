/** What an API key may do: the scopes of the key, and the scope that an operation requires. */
import type { Role } from './roles.ts';

/** Each level includes the levels before it. */
export const scopeLevels = ['read', 'write', 'admin'] as const;

export type ScopeLevel = (typeof scopeLevels)[number];

/** The parts of the API to which a scope can be limited. */
export const scopeResources = [
  'workspace',
  'rooms',
  'recordings',
  'labels',
  'library',
  'retention',
  'api-keys',
  'webhooks',
  'contacts',
  'bookings',
  'connections',
  'analytics',
  'audit',
] as const;

export type ScopeResource = (typeof scopeResources)[number];

/** Maps the name of each router to the resource of its operations. */
const resourceOfRouter: Readonly<Record<string, ScopeResource>> = {
  workspaces: 'workspace',
  branding: 'workspace',
  embedTokens: 'workspace',
  members: 'workspace',
  events: 'workspace',
  rooms: 'rooms',
  participants: 'rooms',
  meetings: 'rooms',
  recordings: 'recordings',
  labels: 'labels',
  library: 'library',
  retention: 'retention',
  apiKeys: 'api-keys',
  webhooks: 'webhooks',
  contacts: 'contacts',
  people: 'contacts',
  bookings: 'bookings',
  bookingPages: 'bookings',
  connections: 'connections',
  analytics: 'analytics',
  audit: 'audit',
};

/** A level for the whole API (`read`), or for one resource (`library:read`). */
export type Scope = ScopeLevel | `${ScopeResource}:${ScopeLevel}`;

/**
 * The levels that allow something in a resource that the levels before do not. `test/api-keys/scopes.test.ts` compares
 * them with the operations.
 */
const levelsOfResource: Readonly<Record<ScopeResource, readonly ScopeLevel[]>> = {
  workspace: ['read', 'admin'],
  rooms: ['read', 'write'],
  recordings: ['read', 'write'],
  labels: ['read', 'write'],
  library: ['read', 'write'],
  retention: ['read', 'admin'],
  'api-keys': ['read'],
  webhooks: ['read', 'admin'],
  contacts: ['read', 'admin'],
  bookings: ['read', 'write', 'admin'],
  connections: ['read'],
  analytics: ['read'],
  audit: ['read'],
};

/** All scopes that allow something. Scopes for the whole API come first. */
export const scopes: readonly Scope[] = [
  ...scopeLevels,
  ...scopeResources.flatMap((resource) => levelsOfResource[resource].map((level) => `${resource}:${level}` as const)),
];

/** The scope that an operation requires of an API key with scopes. */
export type RequiredScope = { resource: ScopeResource; level: ScopeLevel };

/**
 * Returns the scope that an operation requires, from its declaration: `read` for a read, whatever the role; for a
 * write, `admin` if it requires the role admin or owner, otherwise `write`. `scopeLevel` replaces this. `name` is the
 * name of the operation, such as `labels.create`. Throws for an unknown router.
 */
export function requiredScopeOf(name: string, { isRead, minRole, scopeLevel }: OperationKind): RequiredScope {
  const [router = ''] = name.split('.', 1);
  const resource = resourceOfRouter[router];
  if (resource === undefined) throw new Error(`The operations of ${router} have no scope`);
  if (scopeLevel !== undefined) return { resource, level: scopeLevel };
  if (isRead) return { resource, level: 'read' };
  return { resource, level: minRole === 'admin' || minRole === 'owner' ? 'admin' : 'write' };
}

export type OperationKind = { isRead: boolean; minRole: Role | undefined; scopeLevel?: ScopeLevel | undefined };

/**
 * Whether a key with the scopes `held` has the required scope. Null stands for a key without scopes, which may do
 * everything.
 */
export function includesScope(held: readonly string[] | null, { resource, level }: RequiredScope): boolean {
  if (held === null) return true;
  const levels = scopeLevels.slice(scopeLevels.indexOf(level));
  return levels.some((one) => held.includes(one) || held.includes(`${resource}:${one}`));
}

/** Returns the narrowest scope that suffices, in the format that keys store. */
export function toScope({ resource, level }: RequiredScope): Scope {
  return `${resource}:${level}`;
}
