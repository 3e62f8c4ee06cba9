/**
 * Resolves or rejects as `promise` does, or resolves with `late` if that takes longer than `ms` milliseconds. What the
 * promise is about goes on.
 */
export function inTime<Value, Late>(promise: Promise<Value>, ms: number, late: Late): Promise<Value | Late> {
  const expiry = Promise.withResolvers<Late>();
  const timer = setTimeout(() => expiry.resolve(late), ms);
  return Promise.race([promise, expiry.promise]).finally(() => clearTimeout(timer));
}
