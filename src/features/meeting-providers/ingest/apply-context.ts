/** What facts are applied with. */
import type { Log } from '../../../core/log.ts';
import type { Sealer } from '../../../core/sealing.ts';
import type { Tx } from '../../../db/client.ts';

/**
 * A transaction that holds the row of the workspace, and the meeting connection that tells. `now` is when the fact is
 * applied, not when it happened.
 */
export type ApplyContext = {
  tx: Tx;
  now: Date;
  log: Log;
  sealer: Sealer;
  workspaceId: number;
  connectionId: number;
};

export type FoundRoom = { workspaceId: number; roomId: number };
