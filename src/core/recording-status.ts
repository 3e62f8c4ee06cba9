/** The states of a recording, and the moves between them. A recording only moves forward. */
import { toEnum } from './enums.ts';

export const recordingStatuses = ['started', 'uploaded', 'available', 'failed'] as const;

export type RecordingStatus = (typeof recordingStatuses)[number];

const moves: Record<RecordingStatus, readonly RecordingStatus[]> = {
  started: ['uploaded', 'available', 'failed'],
  uploaded: ['available', 'failed'],
  available: [],
  failed: [],
};

/** Those of a recording that still waits for its file. */
export const unfinishedStatuses: RecordingStatus[] = recordingStatuses.filter((status) => !isFinal(status));

/** Whether a recording that is `from` may become `to`; not where it is that already. */
export function mayMove(from: RecordingStatus, to: RecordingStatus): boolean {
  return moves[from].includes(to);
}

/** Whether it stays so: what can be downloaded does, and what failed is recorded anew. */
export function isFinal(status: RecordingStatus): boolean {
  return moves[status].length === 0;
}

/** The status column of a recording as a RecordingStatus. */
export function toRecordingStatus(text: string): RecordingStatus {
  return toEnum(recordingStatuses, text, 'recording status');
}
