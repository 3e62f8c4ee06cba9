/** Only one upload of a recording runs at a time, so that one token cannot make us receive the same file many times over. */
import { conflict } from '../../core/errors.ts';
import { createKeyedSemaphore } from '../../core/semaphore.ts';

export type UploadLocks = {
  /** Runs `work`, which receives the file of a recording. Throws 409 while another upload of the recording runs. */
  withLock<Result>(recordingId: number, work: () => Promise<Result>): Promise<Result>;
};

/** The locks are local to this process. Of uploads to several processes, the first to commit wins. */
export function createUploadLocks(): UploadLocks {
  const uploads = createKeyedSemaphore<number>(1, {
    maxQueued: 0,
    queueFull: () => conflict("The recording's file is being uploaded"),
  });
  return { withLock: (recordingId, work) => uploads.run(recordingId, work) };
}
