import type { Sealer } from '../../../core/sealing.ts';
import type { Tx } from '../../../db/client.ts';
import type { Quotas } from '../../../quotas/quotas.ts';

/** `tx` holds the workspace lock. `now` is when the event is applied, not when it happened. */
export type ApplyContext = {
  tx: Tx;
  now: Date;
  sealer: Sealer;
  quotas: Quotas;
  workspaceId: number;
  connectionId: number;
};
