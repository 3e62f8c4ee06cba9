import type { FileRules } from '../../media/receive-file.ts';
import type { Services } from '../../services.ts';
import { libraryRules } from '../library/upload.ts';
import { recordingRules } from '../recordings/store-recording-file.ts';
import type { Upload } from './upload-rows.ts';

/** Whether an upload is the file of a recording that is sent while it is made. */
export function isLive({ recordingId, defersLength }: Pick<Upload, 'recordingId' | 'defersLength'>): boolean {
  return recordingId !== null && defersLength;
}

/** Returns which files an upload accepts. */
export function rulesOf(
  { settings }: Pick<Services, 'settings'>,
  { recordingId }: Pick<Upload, 'recordingId'>,
): FileRules {
  return recordingId === null ? libraryRules(settings) : recordingRules(settings);
}
