/** One upload of a recording at a time, so that a token cannot make us receive the same file many times over. */
import { conflict } from '../../core/errors.ts';
import { createKeyedSemaphore } from '../../core/semaphore.ts';

export type UploadClaims = {
  /** Runs `work`, which receives the file of a recording. Throws 409 while another upload of the recording runs. */
  hold<Result>(recordingId: number, work: () => Promise<Result>): Promise<Result>;
};

/** In the memory of this process: of uploads to several processes, the commit lets the first one through. */
export function createUploadClaims(): UploadClaims {
  const uploads = createKeyedSemaphore<number>(1, {
    maxQueued: 0,
    queueFull: () => conflict("The recording's file is being uploaded"),
  });
  return { hold: (recordingId, work) => uploads.run(recordingId, work) };
}
