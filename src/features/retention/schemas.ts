import { z } from 'zod';
import { count, integerFrom } from '../../core/validation.ts';

/** The possible policies, in days. */
export const retentionDays = [7, 30, 60, 90, 180, 365] as const;

/** A policy in the field of this name. The error names the field and the possible policies. */
function policyNamed(field: string) {
  const error = `${field} must be one of ${retentionDays.join(', ')} or null`;
  return z.literal(retentionDays, { error }).meta({ type: 'integer' }).nullable();
}

export const Retention = z
  .object({
    media_retention_days: policyNamed('media_retention_days').describe(
      'Library items older than this many days are deleted; null keeps them indefinitely',
    ),
  })
  .meta({ id: 'RetentionPolicy' });
export type Retention = z.infer<typeof Retention>;

export const RecordingRetention = z
  .object({
    recording_retention_days: policyNamed('recording_retention_days').describe(
      'Recordings older than this many days are deleted; null keeps them indefinitely',
    ),
  })
  .meta({ id: 'RecordingRetentionPolicy' });
export type RecordingRetention = z.infer<typeof RecordingRetention>;

const daysError = `days must be one of ${retentionDays.join(', ')}`;

export const RetentionPreviewInput = z.object({
  // Not a literal: the library that describes parameters does not support one with several values.
  days: z
    .number({ error: daysError })
    .refine((value) => retentionDays.some((days) => days === value), { error: daysError })
    .meta({ type: 'integer', enum: [...retentionDays] })
    .describe('The policy whose effect is computed'),
});
export type RetentionPreviewInput = z.infer<typeof RetentionPreviewInput>;

export const RetentionPreview = z
  .object({
    count: count.describe('How many the policy would delete now'),
    bytes: integerFrom(0).describe('The size of their files'),
  })
  .meta({ id: 'RetentionPreview' });
export type RetentionPreview = z.infer<typeof RetentionPreview>;
