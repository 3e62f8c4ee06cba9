/** Expires participants who disappeared without calling the leave operation. */

import { lockWorkspaceIfExists } from '../../auth/workspace-lock.ts';
import { HOUR_MS, SECOND_MS } from '../../core/time.ts';
import { Prisma, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { emitAll } from '../../events/emit.ts';
import type { Services } from '../../services.ts';
import { toLeftEvent } from './participant-lifecycle.ts';
import {
  type ParticipantRow,
  participantColumns,
  participantTables,
  toParticipantRecord,
} from './participant-record.ts';

type Needs = Pick<Services, 'db' | 'clock' | 'log' | 'settings'>;

/** Rows per transaction: few enough that concurrent joins in the workspace wait only briefly. */
const BATCH_SIZE = 200;

/** Providers report joins and leaves, and nothing in between. After this time, the leave is assumed to be lost. */
const PROVIDER_TIMEOUT_MS = 24 * HOUR_MS;

/**
 * Moves waiting and joined participants to `left` if they were last seen longer ago than the timeout:
 * `participantTimeoutSeconds` for those who send heartbeats, a day for those whom a provider reported. Their `left_at`
 * is when they were last seen. Emits `room.left` once for each who had joined, even if several servers do this at the
 * same time. A workspace that fails is logged and skipped. Returns how many participants expired.
 */
export async function expireParticipants(services: Needs): Promise<number> {
  const { db, clock, log } = services;
  const workspaces = await db.$queryRaw<{ id: number }[]>`
    select distinct p.workspace_id as id from participants p where ${isExpired(services, clock.now())} order by 1`;
  let expired = 0;
  for (const { id } of workspaces) {
    try {
      for (let count = BATCH_SIZE; count === BATCH_SIZE; expired += count) count = await expireBatch(services, id);
    } catch (error) {
      log.error({ err: error, workspaceId: id }, 'Failed to expire the participants of a workspace');
    }
  }
  if (expired > 0) log.info({ expired }, 'Expired participants');
  return expired;
}

/** The condition that the participant `p` has expired. */
function isExpired({ settings }: Needs, now: Date): Prisma.Sql {
  const heartbeatLimit = new Date(now.getTime() - settings.participantTimeoutSeconds * SECOND_MS);
  const providerLimit = new Date(now.getTime() - PROVIDER_TIMEOUT_MS);
  const latest = heartbeatLimit > providerLimit ? heartbeatLimit : providerLimit;
  // The index supports only the first two conditions.
  return Prisma.sql`p.status in ('waiting', 'joined') and p.last_seen_at < ${latest} and p.last_seen_at <
    case when p.token_hash is not null and p.participant_reference is null
      then ${heartbeatLimit}::timestamptz else ${providerLimit}::timestamptz end`;
}

/** Expires one batch and returns its size. */
function expireBatch(services: Needs, workspaceId: number): Promise<number> {
  return transact(services.db, async (tx) => {
    if ((await lockWorkspaceIfExists(tx, workspaceId)) === null) return 0;
    const now = services.clock.now();
    // A locked row is skipped: a heartbeat is updating it.
    const rows = await tx.$queryRaw<ParticipantRow[]>`
      select ${participantColumns} from ${participantTables}
      where p.workspace_id = ${workspaceId} and ${isExpired(services, now)}
      order by p.last_seen_at, p.id limit ${BATCH_SIZE} for no key update of p skip locked`;
    if (rows.length === 0) return 0;
    await tx.$executeRaw`
      update participants set status = 'left', left_at = last_seen_at
      where workspace_id = ${workspaceId} and id in (${Prisma.join(rows.map(({ id }) => id))})`;
    const joined = rows.map(toParticipantRecord).filter(({ status }) => status === 'joined');
    await emitAll(
      sqlIn(tx),
      now,
      joined.map((participant) => toLeftEvent(participant, participant.lastSeenAt)),
    );
    return rows.length;
  });
}
