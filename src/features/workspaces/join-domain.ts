/** The domain of the addresses with which people may join a workspace by themselves. */
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { type AppError, badField, badRequest, notFound } from '../../core/errors.ts';
import { isPublicMailDomain, mailDomainIn } from '../../core/mail-domains.ts';
import { transact } from '../../db/client.ts';
import { onlyRow } from '../../db/only-row.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, int, nullable, type RowOf, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { JoinDomain, SetJoinDomainInput } from './schemas.ts';

const readStatement = statement('read-join-domain', {
  params: { workspaceId: int },
  returns: { domain: nullable(text), of_owner: text, is_confirmed: bool },
  sql: `
    select w.join_domain as domain, ${mailDomainIn('o.email')} as of_owner,
      o.email_verified_at is not null as is_confirmed
    from workspaces w join users o on o.id = w.owner_id where w.id = $workspaceId`,
});

type Found = RowOf<typeof readStatement>;

/** Reads the domain, and which one it can be. Throws 404 if the workspace has been deleted. */
export async function readJoinDomain(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
): Promise<JoinDomain> {
  const [found] = await db.sql.run(readStatement, { workspaceId });
  if (!found) throw notFound('Workspace');
  return toJoinDomain(found);
}

function toJoinDomain(found: Found): JoinDomain {
  const possible = refusalOf(found) === null ? found.of_owner : null;
  const { domain } = found;
  return { domain, possible_domain: possible, in_effect: domain !== null && domain === possible ? 1 : 0 };
}

/** Why the domain of the owner's address lets nobody in, or null if it may. */
function refusalOf({ of_owner, is_confirmed }: Found): AppError | null {
  if (!is_confirmed) return badField('domain', 'domain needs a confirmed address of yours: confirm it first');
  if (isPublicMailDomain(of_owner))
    return badField('domain', 'domain must not be of a public mail provider: everybody gets an address there');
  return null;
}

/**
 * Changes the domain. It must be the one of the owner's own confirmed address. Null ends joining by a domain; who
 * has joined stays. Throws 400 for another domain, the domain of a public mail provider, and the Personal workspace.
 * Throws 403 if the actor is no longer the owner.
 */
export function setJoinDomain(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { domain }: SetJoinDomainInput,
): Promise<JoinDomain> {
  return transact(db, async (tx) => {
    // Whoever is about to join has locked the workspace: nobody joins by the old domain after the commit.
    const workspace = await lockWorkspaceAs(tx, actor, 'owner');
    if (workspace.is_personal) throw badRequest('Nobody joins a Personal workspace by a domain: create a workspace');
    const { workspaceId } = actor;
    const found = onlyRow(await sqlIn(tx).run(readStatement, { workspaceId }));
    if (domain !== null) checkDomain(found, domain);
    if (found.domain === domain) return toJoinDomain(found);
    await tx.workspace.update({ where: { id: workspaceId }, data: { joinDomain: domain }, select: { id: true } });
    await recordAudit(tx, {
      workspaceId,
      at: clock.now(),
      actor: auditActorOf(actor),
      action: 'workspace.join_domain_changed',
      target: { kind: 'workspace', id: workspaceId, name: workspace.name },
      before: { join_domain: found.domain },
      after: { join_domain: domain },
    });
    return toJoinDomain({ ...found, domain });
  });
}

function checkDomain(found: Found, domain: string): void {
  const refusal = refusalOf(found);
  if (refusal !== null) throw refusal;
  if (domain !== found.of_owner)
    throw badField('domain', `domain must be the domain of your own confirmed address: ${found.of_owner}`);
}
