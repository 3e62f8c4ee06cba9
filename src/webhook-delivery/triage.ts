/** Decides what to do with leased jobs once their messages are loaded. */
import type { LeasedMessage, LoadedMessage } from './load-messages.ts';
import type { Lane, Lease } from './queue.ts';

export type Triage = {
  /** These are attempted now. */
  due: LeasedMessage[];
  /** These move to the slow lane: they were leased from the fast lane, but their webhook has become slow since then. */
  misplaced: LeasedMessage[];
  /**
   * Nothing is sent for these: the message was deleted, is no longer pending or has another job, or its webhook is
   * inactive or no longer subscribes to the event.
   */
  obsolete: Lease[];
};

export function triage(leases: readonly Lease[], messages: ReadonlyMap<string, LoadedMessage>, lane: Lane): Triage {
  const result: Triage = { due: [], misplaced: [], obsolete: [] };
  for (const lease of leases) {
    const message = messages.get(lease.data.messageId);
    if (message === undefined || !isCurrent(lease, message)) result.obsolete.push(lease);
    else if (lane === 'fast' && message.isSlow) result.misplaced.push({ lease, message });
    else result.due.push({ lease, message });
  }
  return result;
}

/** Whether the message is waiting for this job. */
function isCurrent(lease: Lease, { status, jobId, isWanted }: LoadedMessage): boolean {
  return status === 'waiting' && jobId === lease.id && isWanted;
}
