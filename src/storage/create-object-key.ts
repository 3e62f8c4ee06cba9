import { randomUUID } from 'node:crypto';

/** The prefix of all keys. Its number is the version of the key format. */
export const OBJECT_KEY_PREFIX = 'v1/';

/** Creates a unique key. It contains no user input. */
export function createObjectKey(workspaceId: number, kind: 'library' | 'recordings' | 'posters' | 'logos'): string {
  return `${OBJECT_KEY_PREFIX}workspaces/${workspaceId}/${kind}/${randomUUID()}`;
}
