/**
 * Keys are ours, never a user's; the stores check them all the same, so that no bug above can reach another file.
 */
const SEGMENT = /^[a-z0-9_.-]+$/;

/** `[a-z0-9/_.-]+` without an empty, `.` or `..` segment. */
export function isObjectKey(key: string): boolean {
  return (
    key.length <= 512 && key.split('/').every((segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..')
  );
}

/** Throws for what is no key: a bug of the caller. */
export function assertObjectKey(key: string): void {
  if (!isObjectKey(key)) throw new Error(`Not an object key: ${JSON.stringify(key.slice(0, 100))}`);
}
