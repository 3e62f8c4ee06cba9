/**
 * The statuses of a recording and the transitions between them. A recording never returns to an earlier status, with
 * one exception: `reopenRecording` makes a failed recording `uploaded` if its file can be copied after all.
 */
import { toEnum } from './enums.ts';

export const recordingStatuses = ['started', 'uploaded', 'available', 'failed'] as const;

export type RecordingStatus = (typeof recordingStatuses)[number];

const transitions: Record<RecordingStatus, readonly RecordingStatus[]> = {
  started: ['uploaded', 'available', 'failed'],
  uploaded: ['available', 'failed'],
  available: [],
  failed: [],
};

/**
 * The statuses in which a recording can still receive its file and become `available`. A recording can also remain
 * `uploaded`: its file is then only in the customer's own storage.
 */
export const unfinishedStatuses: RecordingStatus[] = recordingStatuses.filter((status) => !isFinal(status));

/** Whether a recording may change from one status to another. False if both are the same. */
export function canTransition(from: RecordingStatus, to: RecordingStatus): boolean {
  return transitions[from].includes(to);
}

/** Whether no transition leads from this status. */
export function isFinal(status: RecordingStatus): boolean {
  return transitions[status].length === 0;
}

/** Converts the status column of a recording. */
export function toRecordingStatus(text: string): RecordingStatus {
  return toEnum(recordingStatuses, text, 'recording status');
}
