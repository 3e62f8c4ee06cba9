/**
 * Allows one upload of a recording at a time, so that nobody can use one upload token to send a file many times at
 * once.
 */
import { conflict } from '../../core/errors.ts';
import { createLimiter, type Limiter } from '../../core/limiter.ts';

/**
 * Creates this process's upload locks, one per recording id. A call throws 409 while another upload of the same
 * recording is running. If several processes receive uploads of the same recording, the first to commit succeeds.
 */
export function createUploadLock(): Limiter<number> {
  return createLimiter({ maxPerKey: 1, full: () => conflict("The recording's file is being uploaded") });
}
