import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { notFound } from '../../core/errors.ts';
import type { Page } from '../../core/list-page.ts';
import { readSlug } from '../../core/slugs.ts';
import { transact } from '../../db/client.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, nullable, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { passColumns, passReturns } from './pass-columns.ts';
import type { ListPassesInput, PassInput, RoomPass } from './schemas.ts';

const passesOf = pagedList('list-room-passes', {
  order: byTime('q.created_at', 'q.id', 'asc'),
  params: { workspaceId: int, roomId: int, roomName: text, now: time },
  returns: { ...passReturns, is_used: int, created_by: nullable(int), created_by_name: nullable(text), ...timeKey },
  sql: ({ after, window }) => `
    select ${passColumns}, (q.link_hash is null)::int as is_used, q.created_by, u.name as created_by_name,
      ${timeKeyOf('q.created_at')}
    from room_passes q left join users u on u.id = q.created_by
    where q.workspace_id = $workspaceId and q.room_id = $roomId and q.expires_at > $now ${after} ${window}`,
});

/** Lists the passes of a room that have not expired, oldest first. Throws 404 "Room not found". */
export async function listPasses(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId }: Actor,
  { roomName: sentName, ...page }: ListPassesInput,
): Promise<Page<RoomPass>> {
  const roomName = readSlug(sentName);
  if (roomName === null) throw notFound('Room');
  const room = await db.room.findFirst({ where: { workspaceId, name: roomName }, select: { id: true } });
  if (room === null) throw notFound('Room');
  const params = { workspaceId, roomId: room.id, roomName, now: clock.now() };
  return readPage(db.sql, passesOf, params, page, [workspaceId, room.id]);
}

/** The row stays for as long as its visits may read what it says about recording: without it, they might do more. */
const endPass = statement('revoke-room-pass', {
  params: { workspaceId: int, roomName: text, passId: int, now: time },
  returns: { room_id: int },
  sql: `
    update room_passes q set expires_at = $now, link_hash = null from rooms r
    where q.workspace_id = $workspaceId and q.id = $passId and q.expires_at > $now
      and r.workspace_id = q.workspace_id and r.id = q.room_id and r.name = $roomName
    returning q.room_id`,
});

/**
 * Ends a pass as if it had expired: its link and the way back end, and a visit goes on without the rights of a host.
 * Throws 403 if the actor is no longer owner or admin, and 404 if the room has no such pass that has not expired.
 */
export async function revokePass(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { roomName: sentName, passId }: PassInput,
): Promise<{ ok: true }> {
  const { workspaceId } = actor;
  const roomName = readSlug(sentName);
  if (roomName === null) throw notFound('Room');
  const now = clock.now();
  await transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'admin');
    const [row] = await sqlIn(tx).run(endPass, { workspaceId, roomName, passId, now });
    if (!row) throw notFound((await tx.room.count({ where: { workspaceId, name: roomName } })) === 0 ? 'Room' : 'Pass');
    await recordAudit(tx, {
      workspaceId,
      at: now,
      actor: auditActorOf(actor),
      action: 'room.pass_revoked',
      target: { kind: 'room', id: row.room_id, name: roomName },
      before: { pass_id: passId },
    });
  });
  return { ok: true };
}
