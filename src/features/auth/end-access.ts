/** Ends what gives access for longer than a session (`lasting-access.ts`). */
import { recordAccountEvent } from '../../audit/account-events.ts';
import { type AuditActor, type NewAuditEntry, recordAudits } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import { lockWorkspacesOf } from '../../auth/workspace-lock.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, int, json, type Sql, statement, time } from '../../db/statements.ts';
import { allowLongStatements } from '../../db/time-limits.ts';
import type { Services } from '../../services.ts';
import type { AccessKind, EndedAccess } from './access-schemas.ts';
import type { Client } from './devices.ts';
import { endApps } from './end-apps.ts';
import { type AccessRow, findAccess } from './lasting-access.ts';
import type { SessionCall } from './own-sessions.ts';
import { removeIdentities } from './proofs.ts';
import { lockSessionUser } from './session-user.ts';
import { requireSignInMethod } from './sign-in-methods.ts';

/** The kinds that belong to a workspace. Its audit log has them under the same names. */
type WorkspaceKind = Exclude<AccessKind, 'calendar_feed' | 'passkey' | 'identity'>;

const DISABLED_REASON = 'The access of the account that created it has ended';

/** The rows of a table that end, and when. */
type Ended = { refs: readonly Pick<AccessRow, 'workspace_id' | 'id'>[]; at: Date };

const refs = json<Ended['refs']>();
const fromRefs = 'jsonb_to_recordset($refs) as r (workspace_id int, id int)';

const endKeys = statement('end-api-keys', {
  plansAnew: true,
  params: { refs, at: time },
  sql: `
    update api_keys k set is_active = false, revoked_at = $at
    from ${fromRefs} where k.workspace_id = r.workspace_id and k.id = r.id`,
});

/** The relay cancels the messages that wait. */
const endWebhooks = statement('end-webhooks', {
  plansAnew: true,
  params: { refs, at: time },
  sql: `
    update webhooks h
    set is_active = false, is_cancelling = true, disabled_reason = '${DISABLED_REASON}', updated_at = $at
    from ${fromRefs} where h.workspace_id = r.workspace_id and h.id = r.id`,
});

const endConnections = statement('end-connections', {
  plansAnew: true,
  params: { refs },
  sql: `delete from meeting_connections c using ${fromRefs} where c.workspace_id = r.workspace_id and c.id = r.id`,
});

const endInviteLinks = statement('end-invite-links', {
  plansAnew: true,
  params: { refs },
  sql: `
    update workspaces w set invite_hash = null, sealed_invite = null, invite_token = null, invite_created_by = null
    from ${fromRefs} where w.id = r.workspace_id`,
});

const endInvitations = statement('end-invitations', {
  plansAnew: true,
  params: { refs, at: time },
  sql: `
    update invitations i set state = 'revoked', token_hash = null, ended_at = $at
    from ${fromRefs} where i.workspace_id = r.workspace_id and i.id = r.id`,
});

/**
 * A pass may be one of a host. What keys of a workspace made belongs to the team, and ends with everything. The
 * rows stay for their visits, which still may not record if a pass forbids it.
 */
const endPasses = statement('end-room-passes', {
  params: { userId: int, isEverything: bool, at: time },
  sql: `
    update room_passes q
    set expires_at = least(q.expires_at, $at), link_hash = null, is_host = false, may_record = nullif(may_record, true)
    from (
      select workspace_id, id from room_passes where created_by = $userId and (key_id is null or $isEverything)
      union
      select p.workspace_id, p.id from workspaces w join room_passes p on p.workspace_id = w.id
      where w.owner_id = $userId and $isEverything) r
    where q.workspace_id = r.workspace_id and q.id = r.id`,
});

/** As passes: what keys of a workspace made belongs to the team, and ends with everything. */
const endEmbedTokens = statement('end-embed-tokens', {
  params: { userId: int, isEverything: bool },
  sql: `
    delete from embed_tokens q using (
      select workspace_id, id from embed_tokens where created_by = $userId and (key_id is null or $isEverything)
      union
      select e.workspace_id, e.id from workspaces w join embed_tokens e on e.workspace_id = w.id
      where w.owner_id = $userId and $isEverything) r
    where q.workspace_id = r.workspace_id and q.id = r.id`,
});

const kinds: {
  readonly [Kind in WorkspaceKind]: {
    action: NewAuditEntry['action'];
    end: (sql: Sql, ended: Ended) => Promise<unknown>;
  };
} = {
  api_key: { action: 'api_key.revoked', end: (sql, ended) => sql.run(endKeys, ended) },
  webhook: { action: 'webhook.deactivated', end: (sql, ended) => sql.run(endWebhooks, ended) },
  connection: { action: 'connection.deleted', end: (sql, ended) => sql.run(endConnections, ended) },
  invite_link: { action: 'invite_link.revoked', end: (sql, ended) => sql.run(endInviteLinks, ended) },
  invitation: { action: 'invitation.revoked', end: (sql, ended) => sql.run(endInvitations, ended) },
  app: { action: 'app.disconnected', end: (sql, { refs }) => sql.run(endApps, { refs }) },
};

/**
 * Ends the lasting access of the caller that no other member of a workspace relies on. Throws 401 SIGN_IN_EXPIRED if
 * the session has ended, and 409 if the caller would have no way left to sign in.
 */
export function endLastingAccess(
  services: Pick<Services, 'db' | 'clock' | 'settings' | 'openid'>,
  { caller, sessionId, client }: SessionCall,
): Promise<EndedAccess> {
  const { userId } = caller;
  return allowLongStatements(() =>
    transact(services.db, async (tx) => {
      await lockWorkspacesOf(tx, userId);
      await lockSessionUser(services, tx, sessionId);
      const ending = { userId, at: services.clock.now(), actor: auditActorOf(caller), client, scope: 'own' } as const;
      const result = await endAccess(tx, ending);
      await requireSignInMethod(tx, userId, services.openid);
      return result;
    }),
  );
}

type Ending = {
  userId: number;
  at: Date;
  actor: AuditActor;
  client: Client;
  /**
   * `own`: what no other member of a workspace relies on. `everything`: also webhooks, connections and keys of
   * workspaces that have other members, and in workspaces that the user owns also what others have created.
   */
  scope: 'own' | 'everything';
};

/**
 * Ends the lasting access of an account, and records it in the log of the account and of each workspace. Returns how
 * many have ended, and how many remain. Lock the workspaces of the user and then the user, and end the sessions before.
 */
export async function endAccess(tx: Tx, { userId, at, actor, client, scope }: Ending): Promise<EndedAccess> {
  const found = await findAccess(sqlIn(tx), userId, at, scope === 'everything');
  const ending = found.filter(({ ends_on_reset }) => scope === 'everything' || ends_on_reset);
  for (const [kind, { action, end }] of Object.entries(kinds)) {
    const rows = ending.filter((row) => row.kind === kind);
    if (rows.length === 0) continue;
    await end(sqlIn(tx), { refs: rows.map(({ workspace_id, id }) => ({ workspace_id, id })), at });
    await recordAudits(
      sqlIn(tx),
      rows.map((row) => toEntry(row, { at, actor, action })),
    );
  }
  await sqlIn(tx).run(endPasses, { userId, isEverything: scope === 'everything', at });
  await sqlIn(tx).run(endEmbedTokens, { userId, isEverything: scope === 'everything' });
  await tx.calendarFeed.deleteMany({ where: { userId } });
  await tx.passkey.deleteMany({ where: { userId } });
  await removeIdentities(tx, userId);
  const result = { ended: ending.length, remaining: found.length - ending.length };
  if (result.ended > 0)
    await recordAccountEvent(tx, { userId, at, action: 'access_ended', ...client, details: result });
  return result;
}

/** The log does not name the invited person, because it could not be erased from there later. */
function toEntry(
  { kind, workspace_id, id, name }: AccessRow,
  entry: Pick<NewAuditEntry, 'at' | 'actor' | 'action'>,
): NewAuditEntry {
  const target = { kind, id, name: kind === 'invitation' ? null : name };
  // `as`: the kind is one of a workspace, which `workspace_id` belongs to, and `kinds` has its action.
  return { ...entry, workspaceId: workspace_id, target } as NewAuditEntry;
}
