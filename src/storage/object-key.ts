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

/** Returns the key of the object to which a tail belongs; any other key unchanged. */
export function keyOfTail(key: string): string {
  const at = key.lastIndexOf(TAIL_INFIX);
  return at === -1 ? key : key.slice(0, at);
}
