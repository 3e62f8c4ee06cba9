/** The queue of what LiveKit servers have to be told. */
import { DAY_MS, SECOND_MS } from '../../../core/time.ts';
import { int, nullable, oneOf, statement, text, time } from '../../../db/statements.ts';
import { backoffMs, declareQueue, type Lease } from '../../../jobs/lease-queue.ts';
import type { Services } from '../../../services.ts';
import type { LivekitRequestKind } from '../../livekit/requests.ts';

/** Longer than the calls of a request to a server that answers. If a process is killed, another takes over after it. */
export const REQUEST_LEASE_MS = 30 * SECOND_MS;
const BACKOFF = { firstMs: SECOND_MS, maxMs: 60 * SECOND_MS };
/** How often the server is looked at while somebody who was removed may still have a token. */
const RECONCILE_EVERY_MS = 10 * SECOND_MS;
const GIVE_UP_MS = DAY_MS;

const key = {
  workspaceId: { column: 'workspace_id', type: int },
  roomName: { column: 'room_name', type: text },
  kind: { column: 'kind', type: oneOf<LivekitRequestKind>() },
};
const columns = {
  roomId: { column: 'room_id', type: nullable(int) },
  mutedBy: { column: 'muted_by', type: nullable(int) },
  createdAt: { column: 'created_at', type: time },
  until: { column: 'until', type: time },
};

/** One workspace whose server hangs does not keep the others waiting. */
export const livekitRequests = declareQueue({
  name: 'livekit-request',
  table: 'livekit_requests',
  key,
  columns,
  fairBy: 'workspace_id',
});

export type RequestLease = Lease<typeof key, typeof columns>;

const removeRequest = statement('remove-livekit-request', {
  params: { workspaceId: int, roomName: text, kind: text, attempt: int },
  sql: `
    delete from livekit_requests
    where workspace_id = $workspaceId and room_name = $roomName and kind = $kind and attempts = $attempt`,
});

type Needs = Pick<Services, 'db' | 'clock'>;

/** Ends a request that was carried out. A room that is still to be watched is looked at again. */
export async function finishRequest({ db, clock }: Needs, lease: RequestLease): Promise<void> {
  const now = clock.now().getTime();
  if (lease.kind === 'reconcile' && now < lease.until.getTime())
    return livekitRequests.release(db.sql, lease, new Date(now + RECONCILE_EVERY_MS));
  await dropRequest({ db }, lease);
}

/** Ends a request that nobody can carry out. */
export async function dropRequest({ db }: Pick<Needs, 'db'>, lease: RequestLease): Promise<void> {
  const { workspaceId, roomName, kind, attempt } = lease;
  await db.sql.run(removeRequest, { workspaceId, roomName, kind, attempt });
}

/** Tries again later, with a growing pause. Returns false if it is given up: after a day, or `until` for muting. */
export async function retryRequest({ db, clock }: Needs, lease: RequestLease): Promise<boolean> {
  const now = clock.now().getTime();
  const end = lease.kind === 'mute' ? lease.until.getTime() : lease.createdAt.getTime() + GIVE_UP_MS;
  if (now >= end) {
    await dropRequest({ db }, lease);
    return false;
  }
  await livekitRequests.release(db.sql, lease, new Date(now + backoffMs(lease.attempt, BACKOFF)));
  return true;
}
