import { z } from 'zod';
import { count } from '../../core/validation.ts';

export const ClosedMeeting = z
  .object({
    left: count.describe('How many participants were in the room'),
    refused: count.describe('How many participants were waiting'),
    stopped_recordings: count.describe('How many recordings were running'),
  })
  .meta({ id: 'ClosedMeeting', description: 'What ended when the meeting was closed' });
export type ClosedMeeting = z.infer<typeof ClosedMeeting>;
