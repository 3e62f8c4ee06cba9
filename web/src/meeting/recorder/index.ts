/** Records a meeting in the browser. */
export { canRecord } from './can-record.ts';
export { createRecorder, type RecorderOptions } from './create-recorder.ts';
export { RecorderOutbox } from './RecorderOutbox.tsx';
export { RecorderStatus, useRecordedSeconds } from './RecorderStatus.tsx';
export type { RecordedMeeting, Recorder, RecorderState } from './types.ts';
export { useRecorder } from './use-recorder.ts';
