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
  events: 'workspace',
  rooms: 'rooms',
  participants: 'rooms',
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

/** All scopes. Scopes for the whole API come first. */
export const scopes: readonly Scope[] = [
  ...scopeLevels,
  ...scopeResources.flatMap((resource) => scopeLevels.map((level) => `${resource}:${level}` as const)),
];

/** The scope that an operation requires of an API key with scopes. */
export type RequiredScope = { resource: ScopeResource; level: ScopeLevel };

/**
 * Returns the scope that an operation requires, from its declaration: `admin` if the operation requires the role admin
 * or owner, otherwise `read` or `write`. `name` is the name of the operation, such as `labels.create`. Throws for an
 * unknown router.
 */
export function requiredScopeOf(name: string, { isRead, minRole }: OperationKind): RequiredScope {
  const [router = ''] = name.split('.', 1);
  const resource = resourceOfRouter[router];
  if (resource === undefined) throw new Error(`The operations of ${router} have no scope`);
  if (minRole === 'admin' || minRole === 'owner') return { resource, level: 'admin' };
  return { resource, level: isRead ? 'read' : 'write' };
}

export type OperationKind = { isRead: boolean; minRole: Role | undefined };

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
