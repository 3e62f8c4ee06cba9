import { Prisma, type Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { emitAll } from '../../events/emit.ts';
import { toLeftEvent } from './participant-lifecycle.ts';
import {
  type ParticipantRow,
  participantColumns,
  participantTables,
  toParticipantRecord,
} from './participant-record.ts';

/**
 * Moves the participants `p` that match the condition, and had joined by `at`, to `left` at that time. Emits
 * `room.left` once for each. Returns how many left. Call it with the workspace locked.
 */
export async function endPresences(tx: Tx, at: Date, condition: Prisma.Sql): Promise<number> {
  const rows = await tx.$queryRaw<ParticipantRow[]>`
    select ${participantColumns} from ${participantTables}
    where ${condition} and p.status = 'joined' and p.joined_at <= ${at}
    order by p.created_at, p.id for no key update of p`;
  const [first] = rows;
  if (first === undefined) return 0;
  await tx.$executeRaw`
    update participants set status = 'left', left_at = ${at}
    where workspace_id = ${first.workspaceId} and id in (${Prisma.join(rows.map(({ id }) => id))})`;
  await emitAll(
    sqlIn(tx),
    at,
    rows.map((row) => toLeftEvent(toParticipantRecord(row), at)),
  );
  return rows.length;
}
