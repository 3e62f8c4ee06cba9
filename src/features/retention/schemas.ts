import { z } from 'zod';

/** The possible policies, in days. */
export const retentionDays = [7, 30, 60, 90, 180, 365] as const;

const error = `media_retention_days must be one of ${retentionDays.join(', ')} or null`;

export const Retention = z
  .object({
    media_retention_days: z
      .literal(retentionDays, { error })
      .meta({ type: 'integer' })
      .nullable()
      .describe('Library items older than this many days are deleted; null keeps them indefinitely'),
  })
  .meta({ id: 'RetentionPolicy' });
export type Retention = z.infer<typeof Retention>;
