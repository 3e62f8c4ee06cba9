/** What an API key may do: the scopes of a key, and the one that an operation requires. */
import type { Role } from './roles.ts';

/** Each level includes those before it. */
export const scopeLevels = ['read', 'write', 'admin'] as const;

export type ScopeLevel = (typeof scopeLevels)[number];

/** The parts of the API that a scope can be limited to. */
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

/** The resource of the operations of a router, by the name of the router. */
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

/** Every scope, the general ones first. */
export const scopes: readonly Scope[] = [
  ...scopeLevels,
  ...scopeResources.flatMap((resource) => scopeLevels.map((level) => `${resource}:${level}` as const)),
];

/** What an operation requires of an API key that has scopes. */
export type RequiredScope = { resource: ScopeResource; level: ScopeLevel };

/**
 * Returns the scope that an operation requires, from its declaration: `admin` if it requires the role admin or owner,
 * otherwise `read` or `write`. `name` is that of the operation, such as `labels.create`. Throws for an unknown router.
 */
export function requiredScopeOf(name: string, { isRead, minRole }: OperationKind): RequiredScope {
  const [router = ''] = name.split('.', 1);
  const resource = resourceOfRouter[router];
  if (resource === undefined) throw new Error(`The operations of ${router} have no scope`);
  if (minRole === 'admin' || minRole === 'owner') return { resource, level: 'admin' };
  return { resource, level: isRead ? 'read' : 'write' };
}

export type OperationKind = { isRead: boolean; minRole: Role | undefined };

/** Whether a key with the scopes `held` has the required one. Null stands for a key without scopes, which has all. */
export function includesScope(held: readonly string[] | null, { resource, level }: RequiredScope): boolean {
  if (held === null) return true;
  const levels = scopeLevels.slice(scopeLevels.indexOf(level));
  return levels.some((one) => held.includes(one) || held.includes(`${resource}:${one}`));
}

/** The narrowest scope that suffices, in the form that keys store. */
export function toScope({ resource, level }: RequiredScope): Scope {
  return `${resource}:${level}`;
}
