/**
 * Allows one upload of a recording at a time, so that nobody can use one upload token to send a file many times at
 * once.
 */
import { conflict } from '../../core/errors.ts';
import { createKeyedSemaphore, type KeyedSemaphore } from '../../core/semaphore.ts';

/**
 * Creates this process's upload locks, one per recording id. A call throws 409 while another upload of the same
 * recording is running. If several processes receive uploads of the same recording, the first to commit succeeds.
 */
export function createUploadLock(): KeyedSemaphore<number> {
  return createKeyedSemaphore<number>(1, {
    maxQueued: 0,
    queueFull: () => conflict("The recording's file is being uploaded"),
  });
}
