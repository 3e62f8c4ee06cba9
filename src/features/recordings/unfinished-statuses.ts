import { unfinishedStatuses } from '../../core/recording-status.ts';
import { Prisma } from '../../db/client.ts';

/**
 * The statuses of recordings that still need a file in our store, for `status in (...)`. They are literals rather than
 * parameters, because a generic plan can use the partial indexes on unfinished recordings only then.
 */
export const UNFINISHED_STATUSES_SQL = Prisma.raw(unfinishedStatuses.map((status) => `'${status}'`).join(', '));
