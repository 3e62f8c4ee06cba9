import { unfinishedStatuses } from '../../core/recording-status.ts';
import { Prisma } from '../../db/client.ts';

/**
 * The statuses of recordings that still wait for their file, for `status in (...)`. As text, not as parameters: only so a
 * plan for every call may use the indexes of unfinished recordings alone.
 */
export const UNFINISHED_STATUSES_SQL = Prisma.raw(unfinishedStatuses.map((status) => `'${status}'`).join(', '));
