/**
 * Keys contain no user input. The stores still check them, so that a bug elsewhere cannot give access to another file.
 */
const SEGMENT = /^[a-z0-9_.-]+$/;

/** Whether a key has at most 512 characters of `[a-z0-9/_.-]`, and no empty, `.` or `..` segment. */
export function isObjectKey(key: string): boolean {
  return (
    key.length <= 512 && key.split('/').every((segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..')
  );
}

/** Throws if the string is not a key, which is a bug in the caller. */
export function assertObjectKey(key: string): void {
  if (!isObjectKey(key)) throw new Error(`Not an object key: ${JSON.stringify(key.slice(0, 100))}`);
}

/** Begins the name of a tail, after the key of its object: bytes of an upload that are too few for a part. */
export const TAIL_INFIX = '.tail-';

/** Returns the last segment of a key, or of the key to which a tail belongs. It is unique, because it is a UUID. */
export function nameOfKey(key: string): string {
  const name = key.slice(key.lastIndexOf('/') + 1);
  const at = name.lastIndexOf(TAIL_INFIX);
  return at === -1 ? name : name.slice(0, at);
}

/** Returns the prefix with one trailing slash and no leading one, or an empty string. */
export function directoryPrefix(prefix = ''): string {
  const directory = prefix.replace(/^\/+|(?<!\/)\/+$/g, '');
  return directory === '' ? '' : `${directory}/`;
}
