import { unfinishedStatuses } from '../../core/recording-status.ts';

/**
 * The statuses of recordings that still need a file in our store, for `status in (...)`. They are literals, because
 * with parameters a generic plan cannot use the partial indexes on unfinished recordings.
 */
export const UNFINISHED_STATUSES = unfinishedStatuses.map((status) => `'${status}'`).join(', ');
