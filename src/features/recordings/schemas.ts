import { z } from 'zod';
import { recordingStatuses } from '../../core/recording-status.ts';
import { id, singleLineText, unixSeconds } from '../../core/validation.ts';
import { UploadFields } from '../library/schemas.ts';
import { RoomInput } from '../rooms/schemas.ts';

export const MAX_TITLE_LENGTH = 200;
const MAX_ARCHIVE_ID_LENGTH = 200;

export const Recording = z
  .object({
    id,
    room_id: id,
    room_name: z.string(),
    archive_id: z.string().describe('ID of the recording at its recorder; unique in the room'),
    title: z.string().nullable(),
    url: z.string().nullable().describe('URL of the download operation; null until the recording is available'),
    duration: z.int().describe('Seconds; 0 until it is known'),
    size: z.int().describe('Bytes; 0 until it is known'),
    status: z.enum(recordingStatuses),
    failure_reason: z.string().nullable().describe('Why the recording failed; null for any other status'),
    created_at: unixSeconds,
    ended_at: unixSeconds
      .nullable()
      .describe('When the recording was stopped, Unix timestamp in seconds; null until then'),
  })
  .meta({ id: 'Recording', description: 'A recording of a room' });
export type Recording = z.infer<typeof Recording>;

export const RecordingInput = z.object({ recordingId: id.describe('Recording ID') });
export type RecordingInput = z.infer<typeof RecordingInput>;

const title = singleLineText(MAX_TITLE_LENGTH)
  .nullable()
  .describe(`At most ${MAX_TITLE_LENGTH} characters; null or blank for none`);

/** The input of a participant who starts a recording. */
export const NewRecordingInput = z.object({ title: title.optional() });
export type NewRecordingInput = z.infer<typeof NewRecordingInput>;

export const StartRecordingInput = RoomInput.extend({
  title: title.optional(),
  archive_id: singleLineText(MAX_ARCHIVE_ID_LENGTH)
    .min(1, { error: 'archive_id cannot be empty' })
    .describe('ID of the recording at its meeting provider; generated if omitted')
    .optional(),
});
export type StartRecordingInput = z.infer<typeof StartRecordingInput>;

export const RoomRecordingInput = RoomInput.extend(RecordingInput.shape);
export type RoomRecordingInput = z.infer<typeof RoomRecordingInput>;

export const RenameRecordingInput = RecordingInput.extend({ title });
export type RenameRecordingInput = z.infer<typeof RenameRecordingInput>;

export const SaveToLibraryInput = RecordingInput.extend(UploadFields.shape);
export type SaveToLibraryInput = z.infer<typeof SaveToLibraryInput>;

export const RecordingsAnswer = z.object({ recordings: z.array(Recording) });
export const RecordingAnswer = z.object({ recording: Recording });

export const StartedRecording = RecordingAnswer.extend({
  upload_token: z
    .string()
    .describe(
      'Grants the upload of the file of this recording, as `Authorization: Bearer <upload_token>`. It is returned ' +
        'only here',
    ),
});
export type StartedRecording = z.infer<typeof StartedRecording>;
