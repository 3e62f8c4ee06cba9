import { randomUUID } from 'node:crypto';

/** All our objects stand under this; the number changes when the scheme does. */
export const OBJECT_KEY_PREFIX = 'v1/';

/** A new key that has never been used: nothing of what a user sends is in it. */
export function createObjectKey(workspaceId: number, kind: 'library' | 'recordings'): string {
  return `${OBJECT_KEY_PREFIX}workspaces/${workspaceId}/${kind}/${randomUUID()}`;
}
