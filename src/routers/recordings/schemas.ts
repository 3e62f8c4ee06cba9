import { z } from 'zod';
import { recordingStatuses } from '../../core/recording-status.ts';
import { id, unixSeconds } from '../../core/validation.ts';

export const Recording = z
  .object({
    id,
    room_id: id,
    room_name: z.string(),
    archive_id: z.string().describe('What the recorder calls it; unique in its room'),
    title: z.string().nullable(),
    url: z.string().nullable().describe('The download operation of this recording; null until it is available'),
    duration: z.int().describe('Seconds; 0 until known'),
    size: z.int().describe('Bytes; 0 until known'),
    status: z.enum(recordingStatuses),
    created_at: unixSeconds,
  })
  .meta({ id: 'Recording', description: 'What was recorded in a room' });
export type Recording = z.infer<typeof Recording>;

export const RecordingInput = z.object({ recordingId: id.describe('Recording ID') });
export type RecordingInput = z.infer<typeof RecordingInput>;

export const RecordingsAnswer = z.object({ recordings: z.array(Recording) });
