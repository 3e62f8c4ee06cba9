/** Letting those go who went without a word. */

import { lockWorkspaceIfExists } from '../../auth/workspace-lock.ts';
import { HOUR_MS, SECOND_MS } from '../../core/time.ts';
import { Prisma, transact } from '../../db/client.ts';
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

/** Rows a transaction: short enough that others who enter rooms of the workspace hardly notice. */
const BATCH = 200;

/** Providers tell who comes and goes, and nothing in between: so long after the last news it was lost. */
const PROVIDER_SILENCE_MS = 24 * HOUR_MS;

/**
 * Lets everyone go who waits or joined and has not been heard of for too long: those with a token for the time of the
 * settings, those whom a provider knows for a day. They left with their last sign of life, and `room.left` is emitted
 * once for who had joined, however many servers do this at a time. A workspace that fails is passed over until the next
 * time. Returns how many they were.
 */
export async function expireParticipants(services: Needs): Promise<number> {
  const { db, clock, log } = services;
  const workspaces = await db.$queryRaw<{ id: number }[]>`
    select distinct p.workspace_id as id from participants p where ${isSilent(services, clock.now())} order by 1`;
  let closed = 0;
  for (const { id } of workspaces) {
    try {
      for (let count = BATCH; count === BATCH; closed += count) count = await closeBatch(services, id);
    } catch (error) {
      log.error({ err: error, workspace: id }, 'The silent participants of a workspace could not be let go');
    }
  }
  if (closed > 0) log.info({ closed }, 'Let silent participants go');
  return closed;
}

/** The condition that the participant in `p` is present and was silent for too long. */
function isSilent({ settings }: Needs, now: Date): Prisma.Sql {
  const heard = new Date(now.getTime() - settings.participantTimeoutSeconds * SECOND_MS);
  const told = new Date(now.getTime() - PROVIDER_SILENCE_MS);
  const latest = heard > told ? heard : told;
  // The first two conditions are what the index can answer.
  return Prisma.sql`p.status in ('waiting', 'joined') and p.last_seen_at < ${latest} and p.last_seen_at <
    case when p.token_hash is not null and p.participant_reference is null
      then ${heard}::timestamptz else ${told}::timestamptz end`;
}

/** Lets one batch go. Returns how many they were. */
function closeBatch(services: Needs, workspaceId: number): Promise<number> {
  return transact(services.db, async (tx) => {
    if ((await lockWorkspaceIfExists(tx, workspaceId)) === null) return 0;
    const now = services.clock.now();
    // Whose row is held by somebody is being heard of right now.
    const rows = await tx.$queryRaw<ParticipantRow[]>`
      select ${participantColumns} from ${participantTables} where p.workspace_id = ${workspaceId} and ${isSilent(services, now)}
      order by p.last_seen_at, p.id limit ${BATCH} for no key update of p skip locked`;
    if (rows.length === 0) return 0;
    await tx.$executeRaw`
      update participants set status = 'left', left_at = last_seen_at
      where workspace_id = ${workspaceId} and id in (${Prisma.join(rows.map(({ id }) => id))})`;
    const joined = rows.map(toParticipantRecord).filter(({ status }) => status === 'joined');
    await emitAll(
      tx,
      now,
      joined.map((visit) => toLeftEvent(visit, visit.lastSeenAt)),
    );
    return rows.length;
  });
}
