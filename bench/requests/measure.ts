/** Measures one operation on one server. */

import { sendLoad } from '../load.ts';
import { cpuMs } from '../upload-servers.ts';
import { quantile } from '../webhook-world.ts';
import type { Operation, Tokens } from './operations.ts';
import type { Target } from './targets.ts';

export type Figures = { perSecond: number; cpuUs: number; p50: number; p99: number };

/** The maximum rate of a load, in calls per second. `prepare` creates enough for it. */
const MAX_RATE = 5_000;

export type Shot = {
  databaseUrl: string;
  tokens: Tokens;
  connections: number;
  seconds: number;
  /** The workspace that each connection writes to. */
  workspaceOf(connection: number): number;
};

const counters = new Map<Operation, number>();

/** Sends the operation over all connections. Throws if a call fails. */
export async function measure(operation: Operation, target: Target, shot: Shot): Promise<Figures> {
  const makeCall = operation.calls[target.api];
  if (makeCall === undefined) throw new Error(`No ${operation.title} at ${target.api}`);
  await operation.prepare?.(shot.databaseUrl, Math.ceil(shot.seconds * MAX_RATE));
  const cpuBefore = cpuMs(target.pid);
  const load = await sendLoad(target.url, shot.connections, shot.seconds, (connection) =>
    makeCall(nextNumber(operation), shot.tokens, shot.workspaceOf(connection)),
  );
  if (load.failure !== null) throw new Error(`${load.failed} of ${load.done} failed: ${load.failure}`);
  return {
    perSecond: load.done / load.seconds,
    cpuUs: ((cpuMs(target.pid) - cpuBefore) * 1000) / load.done,
    p50: quantile(load.latencies, 0.5),
    p99: quantile(load.latencies, 0.99),
  };
}

/** Returns a number that no other call of the operation has. */
export function nextNumber(operation: Operation): number {
  const number = counters.get(operation) ?? 0;
  counters.set(operation, number + 1);
  return number;
}
