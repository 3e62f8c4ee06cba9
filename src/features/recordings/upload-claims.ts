/** One upload of a recording at a time, so that a token cannot have the same file received many times over. */
import { conflict } from '../../core/errors.ts';

export type UploadClaims = {
  /** Does `work`, which receives the file of a recording. Throws 409 where another one is at it. */
  hold<Result>(recordingId: number, work: () => Promise<Result>): Promise<Result>;
};

/** Kept in the memory of this process: of uploads to several, the commit lets the first one through. */
export function createUploadClaims(): UploadClaims {
  const claimed = new Set<number>();
  return {
    async hold(recordingId, work) {
      if (claimed.has(recordingId)) throw conflict("The recording's file is being uploaded");
      claimed.add(recordingId);
      try {
        return await work();
      } finally {
        claimed.delete(recordingId);
      }
    },
  };
}
