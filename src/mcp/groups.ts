/** Which operations of the API are tools of their own, and in which group. */

/** The groups to which `?groups=` can limit a connection. */
export const groups = ['rooms', 'library', 'recordings', 'bookings', 'people', 'analytics', 'webhooks'] as const;

export type Group = (typeof groups)[number];

/**
 * The operations that are tools of their own. A model chooses badly among too many tools, so all others are found with
 * `search_operations`, and called with `call_operation`.
 */
export const toolsOfGroup: Readonly<Record<Group, readonly string[]>> = {
  rooms: [
    'rooms.listInWorkspace',
    'rooms.readInWorkspace',
    'rooms.create',
    'rooms.update',
    'rooms.delete',
    'participants.list',
  ],
  library: [
    'library.list',
    'library.read',
    'library.upload',
    'library.download',
    'library.delete',
    'labels.list',
    'labels.create',
    'library.assignLabel',
  ],
  recordings: [
    'recordings.listInWorkspace',
    'recordings.readInWorkspace',
    'recordings.downloadInWorkspace',
    'recordings.rename',
    'recordings.saveToLibrary',
  ],
  bookings: [
    'bookingPages.list',
    'bookings.times',
    'bookings.book',
    'bookings.list',
    'bookings.rescheduleByTeam',
    'bookings.cancelByTeam',
  ],
  people: ['contacts.list', 'contacts.read', 'contacts.create'],
  analytics: ['analytics.read'],
  webhooks: ['webhooks.list', 'webhooks.create', 'webhooks.messages'],
};

/** The group of the operations of a router. The operations of other routers are in no group. */
const groupOfRouter: Readonly<Record<string, Group>> = {
  rooms: 'rooms',
  participants: 'rooms',
  meetings: 'rooms',
  library: 'library',
  labels: 'library',
  recordings: 'recordings',
  bookings: 'bookings',
  bookingPages: 'bookings',
  contacts: 'people',
  people: 'people',
  analytics: 'analytics',
  webhooks: 'webhooks',
};

/**
 * Writes that only add something, or only have the form of a write. MCP calls every other write destructive, because it
 * overwrites or deletes.
 */
const ADDITIVE =
  /\.(?:create|upload|book|confirm|lookUp|timesToMove|assignLabel|start|saveToLibrary|admit|muteAll|test|approve|retryCopy|resend\w*)$/;

/** Writes whose effects leave the service: they send mail, or requests to other servers. */
const OUTGOING = /^(?:bookings\.|bookingPages\.delete|webhooks\.(?:test|resend))/;

export function groupOf(name: string): Group | null {
  return groupOfRouter[name.split('.', 1)[0] ?? ''] ?? null;
}

export function isTool(name: string): boolean {
  const group = groupOf(name);
  return group !== null && toolsOfGroup[group].includes(name);
}

/** Whether a write changes or removes what exists. */
export function isDestructive(name: string): boolean {
  return !ADDITIVE.test(name);
}

export function reachesOthers(name: string): boolean {
  return OUTGOING.test(name);
}

/** The name of the tool for an operation: `library.assignLabel` is `library_assign_label`. */
export function toToolName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace('.', '_');
}
