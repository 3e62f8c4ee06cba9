import { erasePerson } from '../../audit/erase-person.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { allowLongStatements } from '../../db/time-limits.ts';
import type { Services } from '../../services.ts';
import type { EraseAuditInput, ErasedAudit } from './schemas.ts';

/**
 * Erases the name and addresses of a user from the log of the workspace, and logs the erasure. The entries keep the
 * user's ID and actions. Throws 403 if the actor is no longer the owner, and 404 if the workspace was deleted.
 */
export function eraseAudit(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { user_id: userId }: EraseAuditInput,
): Promise<ErasedAudit> {
  const { workspaceId } = actor;
  const work = () =>
    transact(db, async (tx) => {
      await lockWorkspaceAs(tx, actor, 'owner');
      const erased = await erasePerson(sqlIn(tx), userId, workspaceId);
      const target = { kind: 'audit_log', id: null } as const;
      const entry = { workspaceId, at: clock.now(), actor: auditActorOf(actor), target };
      await recordAudit(tx, { ...entry, action: 'audit_log.erased', after: { user_id: userId, entries: erased } });
      return { erased };
    });
  return allowLongStatements(work);
}
