import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import type { RecordingsVisibility, RecordingsVisibilityInput } from './schemas.ts';

/**
 * Sets who can watch the recordings of all rooms of the workspace that exist now. New rooms still get the default.
 * Throws 403 if the caller is no longer the owner or an admin.
 */
export function setRecordingsVisibility(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { recordings_visible_to: wanted }: RecordingsVisibilityInput,
): Promise<RecordingsVisibility> {
  return transact(db, async (tx) => {
    const { id: workspaceId } = await lockWorkspaceAs(tx, actor, 'admin');
    const { count } = await tx.room.updateMany({
      where: { workspaceId, recordingsVisibleTo: { not: wanted } },
      data: { recordingsVisibleTo: wanted },
    });
    if (count > 0)
      await recordAudit(tx, {
        workspaceId,
        at: clock.now(),
        actor: auditActorOf(actor),
        action: 'room.recordings_visibility_changed',
        target: { kind: 'room', id: null },
        after: { recordings_visible_to: wanted, rooms: count },
      });
    return { recordings_visible_to: wanted, changed_rooms: count };
  });
}
