/** One upload of a recording at a time, so that a token cannot make the service receive the same file many times over. */
import { conflict } from '../../core/errors.ts';
import { createKeyedSemaphore, type KeyedSemaphore } from '../../core/semaphore.ts';

/**
 * Runs one upload of a recording, by its id, at a time. Throws 409 while another one runs. It is held in the memory of one
 * process: of uploads to several, the first commit wins.
 */
export function createUploadLock(): KeyedSemaphore<number> {
  return createKeyedSemaphore<number>(1, {
    maxQueued: 0,
    queueFull: () => conflict("The recording's file is being uploaded"),
  });
}
