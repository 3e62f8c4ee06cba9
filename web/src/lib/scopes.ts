/** What scopes allow, in words. */

const levels: Readonly<Record<string, string>> = {
  read: 'Read',
  write: 'Read, create and change',
  admin: 'Read, change and manage',
};

const everything: Readonly<Record<string, string>> = {
  read: 'Read everything: files, rooms, recordings, bookings and people',
  write: 'Also create, change and delete content, such as files, rooms and bookings',
  admin: 'Also manage the workspace, such as booking pages, contacts and webhooks',
};

/** Returns what a scope such as `read` or `library:write` allows. */
export function describeScope(scope: string): string {
  const [resource = '', level] = scope.split(':');
  if (level === undefined) return everything[resource] ?? scope;
  return `${levels[level] ?? level}: ${resource.replace('-', ' ')}`;
}
