/**
 * Brings one recording of the LiveKit server of the operator forward: starts it, and stops it when the recording is
 * stopped or deleted. Then its file is stored (`store-egress.ts`). Only the server is asked what it does.
 */
import { MINUTE_MS, SECOND_MS } from '../../../core/time.ts';
import { notify } from '../../../db/notify.ts';
import { backoffMs } from '../../../jobs/lease-queue.ts';
import type { Services } from '../../../services.ts';
import { LIVEKIT_CHANNEL } from '../../livekit/rooms.ts';
import { endCapture } from '../../recordings/egress.ts';
import { EGRESS_BYTES_PER_SECOND, type Egress, type EgressService } from '../livekit-calls/egress-service.ts';
import {
  discard,
  type EgressContext,
  fail,
  failRecording,
  isFinished,
  isOld,
  isOverdue,
  nameOf,
  runStep,
  wait,
} from './egress-context.ts';
import { type EgressLease, passToStore, saveEgressId } from './egress-queue.ts';

/** How long the server may take to begin. People who pressed "Record" would not notice a later beginning. */
const START_MS = MINUTE_MS;
/** How long a start that was not answered may still become a recording, which then has to be stopped. */
const LATE_START_MS = 10 * MINUTE_MS;
const POLL_MS = 5 * SECOND_MS;
/** While the server stores the file. */
const ENDING_POLL_MS = 2 * SECOND_MS;
const BACKOFF = { firstMs: POLL_MS, maxMs: MINUTE_MS };

const NOT_BEGUN = 'The media server did not begin to record';

export function runEgress(
  services: Services,
  egresses: EgressService,
  lease: EgressLease,
  signal: AbortSignal,
): Promise<void> {
  return runStep(services, lease, signal, { step: (context) => bringForward(context, egresses), onFailure: askAgain });
}

async function askAgain(context: EgressContext): Promise<void> {
  const { services, lease } = context;
  if (lease.egressId === null && isOld(services, lease, START_MS)) await failRecording(context, NOT_BEGUN);
  await wait(context, backoffMs(lease.attempt, BACKOFF));
}

async function bringForward(context: EgressContext, egresses: EgressService): Promise<void> {
  const { services, egress, lease, signal, recording } = context;
  const task = { room: lease.roomName, path: `${egress.target.prefix}/${nameOf(lease)}`, egressId: lease.egressId };
  const isWanted = recording !== null && recording.endedAt === null && !isFinished(recording);
  const found = await egresses.find(egress, task, signal);
  if (found === null && lease.egressId !== null) return collect(context);
  if (found === null && (!isWanted || isOld(services, lease, START_MS))) return giveUpStart(context);
  const current: Egress = found ?? (await egresses.start(egress, task, signal));
  if (lease.egressId === null) await services.db.sql.run(saveEgressId, { ...lease, egressId: current.egressId });
  if (current.state === 'done') return collect(context);
  if (current.state === 'failed') return fail(context, 'The media server could not record the meeting');
  if (isWanted && !isAtMaximum(context)) return wait(context, POLL_MS);
  if (isWanted) await endCapture(services.db.sql, services.clock.now(), lease);
  if (current.state === 'running') await egresses.stop(egress, current.egressId, signal);
  if (isOverdue(context)) return fail(context, 'The media server has not finished the recording in a day');
  await wait(context, ENDING_POLL_MS);
}

/** The recording fails, but the server is looked at for some minutes more: it may have been slow to begin. */
async function giveUpStart(context: EgressContext): Promise<void> {
  const { services, lease } = context;
  // It was never asked.
  if (lease.attempt === 1 || isOld(services, lease, LATE_START_MS)) return fail(context, NOT_BEGUN);
  await failRecording(context, NOT_BEGUN);
  await wait(context, MINUTE_MS / 2);
}

/** The server has written the file. Storing it may take long, and must not keep other recordings from being stopped. */
async function collect(context: EgressContext): Promise<void> {
  const { services, lease, recording } = context;
  if (recording === null || isFinished(recording)) return discard(context);
  const { db, clock } = services;
  await db.sql.transact(async (sql) => {
    await sql.run(passToStore, { ...lease, now: clock.now() });
    await notify(sql, LIVEKIT_CHANNEL);
  });
}

/** Whether the file may soon be as large as a recording can be. */
function isAtMaximum({ services, recording }: EgressContext): boolean {
  if (recording === null) return false;
  const seconds = (services.clock.now().getTime() - recording.createdAt.getTime()) / SECOND_MS;
  return (seconds + POLL_MS / SECOND_MS) * EGRESS_BYTES_PER_SECOND >= services.settings.maxRecordingBytes;
}
