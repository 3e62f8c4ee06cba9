/** What a workspace requires of the sessions of its members. */
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { type SignInRequirement, signInRequired, unmetBy, unmetColumns } from '../../auth/sign-in-requirements.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { badField, badRequest, notFound } from '../../core/errors.ts';
import { transact } from '../../db/client.ts';
import { onlyRow } from '../../db/only-row.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, nullable, oneOf, type RowOf, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { SetSignInRequirementInput, SignInRequirementAnswer } from './schemas.ts';

const requirementFor = statement('read-sign-in-requirement', {
  params: { workspaceId: int, sessionId: int },
  returns: { required: nullable(oneOf<SignInRequirement>()), issuer: nullable(text), unmet: unmetColumns.unmet },
  sql: `
    select w.required_sign_in as required, w.required_issuer as issuer, ${unmetBy('s')} as unmet
    from workspaces w left join sessions s on s.id = $sessionId where w.id = $workspaceId`,
});

const change = statement('set-sign-in-requirement', {
  params: { workspaceId: int, required: nullable(oneOf<SignInRequirement>()), issuer: nullable(text) },
  sql: 'update workspaces set required_sign_in = $required, required_issuer = $issuer where id = $workspaceId',
});

type Found = RowOf<typeof requirementFor>;

type Call = { actor: Actor; sessionId: number };

/** Reads what the workspace requires, and whether the session satisfies it. Throws 404 if it has been deleted. */
export async function readSignInRequirement(
  { db, openid }: Pick<Services, 'db' | 'openid'>,
  { actor: { workspaceId }, sessionId }: Call,
): Promise<SignInRequirementAnswer> {
  const [found] = await db.sql.run(requirementFor, { workspaceId, sessionId });
  if (!found) throw notFound('Workspace');
  return toAnswer(openid, found);
}

function toAnswer({ list }: Services['openid'], { required, issuer, unmet }: Found): SignInRequirementAnswer {
  const provider = list.find((one) => one.issuer === issuer);
  return {
    required,
    provider: provider ? { id: provider.id, name: provider.name } : null,
    satisfied: unmet === null ? 1 : 0,
  };
}

/**
 * Changes what the workspace requires. Members who do not satisfy it are refused from then on, and their live updates
 * end. Throws 400 for the Personal workspace and an unknown provider. Throws 403 if the owner's own session does not
 * satisfy the new requirement, so that owners do not lock themselves out.
 */
export async function setSignInRequirement(
  services: Pick<Services, 'db' | 'clock' | 'openid'>,
  { actor, sessionId }: Call,
  { required, provider: providerId }: SetSignInRequirementInput,
): Promise<SignInRequirementAnswer> {
  const { db, clock, openid } = services;
  const issuer = required === 'provider' ? issuerOf(openid, providerId) : null;
  return transact(db, async (tx) => {
    const workspace = await lockWorkspaceAs(tx, actor, 'owner');
    if (workspace.is_personal) throw badRequest('The Personal workspace has no other members: create a workspace');
    const { workspaceId } = actor;
    const sql = sqlIn(tx);
    const before = onlyRow(await sql.run(requirementFor, { workspaceId, sessionId }));
    if (before.required === required && before.issuer === issuer) return toAnswer(openid, before);
    await sql.run(change, { workspaceId, required, issuer });
    const after = onlyRow(await sql.run(requirementFor, { workspaceId, sessionId }));
    if (after.unmet !== null) throw signInRequired(after.unmet);
    await recordAudit(tx, {
      workspaceId,
      at: clock.now(),
      actor: auditActorOf(actor),
      action: 'workspace.sign_in_changed',
      target: { kind: 'workspace', id: workspaceId, name: workspace.name },
      before: { required: before.required, issuer: before.issuer },
      after: { required, issuer },
    });
    return toAnswer(openid, after);
  });
}

function issuerOf({ list }: Services['openid'], providerId: string | undefined): string {
  if (providerId === undefined) throw badField('provider', 'provider is required: the ID of an OpenID provider');
  const provider = list.find(({ id }) => id === providerId);
  if (!provider) throw badField('provider', 'provider must be one of GET /api/auth/openid/providers');
  return provider.issuer;
}
