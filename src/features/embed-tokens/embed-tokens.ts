/** Tokens with which a page of another product shows a part of a workspace. */
import { type NewAuditEntry, recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { createToken, hashToken } from '../../auth/tokens.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { conflict, notFound, scopeMissing } from '../../core/errors.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import { includesScope, type RequiredScope } from '../../core/scopes.ts';
import { transact } from '../../db/client.ts';
import { secondsOf } from '../../db/columns.ts';
import { isForeignKeyViolation } from '../../db/errors.ts';
import { inBatches } from '../../db/in-batches.ts';
import { onlyRow } from '../../db/only-row.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { sqlIn } from '../../db/sql.ts';
import { bytes, float, int, nullable, oneOf, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type {
  CreatedEmbedToken,
  CreateEmbedTokenInput,
  CurrentEmbedTokenAnswer,
  EmbedToken,
  EmbedTokenInput,
} from './schemas.ts';

/** How many tokens of a workspace may work at once. */
export const MAX_EMBED_TOKENS = 1_000;

const BATCH_SIZE = 500;

const columns = {
  id: int,
  kind: oneOf<EmbedToken['kind']>(),
  access: nullable(oneOf<NonNullable<EmbedToken['access']>>()),
  label_id: nullable(int),
  label_name: nullable(text),
  created_by: int,
  created_by_name: text,
  created_at: float,
  expires_at: float,
};

const selected = `
  e.id, e.kind, e.access, e.label_id, l.name as label_name, e.created_by, u.name as created_by_name,
  ${secondsOf('e.created_at')} as created_at, ${secondsOf('e.expires_at')} as expires_at`;

const named = `
  join users u on u.id = e.created_by left join labels l on l.workspace_id = e.workspace_id and l.id = e.label_id`;

const tokensOf = pagedList('list-embed-tokens', {
  order: byTime('e.created_at', 'e.id', 'asc'),
  params: { workspaceId: int, now: time },
  returns: { ...columns, ...timeKey },
  sql: ({ after, window }) => `
    select ${selected}, ${timeKeyOf('e.created_at')}
    from embed_tokens e ${named}
    where e.workspace_id = $workspaceId and e.expires_at > $now ${after} ${window}`,
});

/** Lists the tokens that have not expired, oldest first. */
export function listEmbedTokens(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId }: Actor,
  page: ListPageInput,
): Promise<Page<EmbedToken>> {
  return readPage(db.sql, tokensOf, { workspaceId, now: clock.now() }, page, [workspaceId]);
}

/** Returns what the embed token of the caller allows, or null for another credential. */
export function readCurrentScope({ credential }: Actor): CurrentEmbedTokenAnswer {
  const scope = credential?.kind === 'key' ? credential.embed : undefined;
  if (scope === undefined) return { scope: null };
  const { access, labelId } = scope.kind === 'library' ? scope : { access: null, labelId: null };
  return { scope: { kind: scope.kind, access, label_id: labelId } };
}

/** Adds no token if the workspace has as many as it may have. The workspace must be locked. */
const insertToken = statement('create-embed-token', {
  params: {
    workspaceId: int,
    kind: text,
    access: nullable(text),
    labelId: nullable(int),
    tokenHash: bytes,
    userId: int,
    keyId: nullable(int),
    grantId: nullable(int),
    now: time,
    expiresAt: time,
    max: int,
  },
  returns: columns,
  sql: `
    with made as (
      insert into embed_tokens (workspace_id, kind, access, label_id, token_hash, created_by, key_id, grant_id,
        created_at, expires_at)
      select $workspaceId, $kind, $access, $labelId, $tokenHash, $userId, $keyId, $grantId, $now, $expiresAt
      where (select count(*) from embed_tokens o where o.workspace_id = $workspaceId and o.expires_at > $now) < $max
      returning *)
    select ${selected} from made e ${named}`,
});

/**
 * Makes a token. Only the response contains it; the database stores its hash. Throws 403 if the actor is no longer
 * owner or admin, or lacks a scope that the token would have, 404 for an unknown label, and 409 if the workspace has
 * too many tokens.
 */
export function createEmbedToken(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { kind, access = 'read', label_id: labelId, expires_in: seconds }: CreateEmbedTokenInput,
): Promise<CreatedEmbedToken> {
  requireScopesOf(actor, kind, access);
  const { workspaceId } = actor;
  const now = clock.now();
  const token = createToken('lne_');
  return transact(db, async (tx) => {
    // With the lock, what ends the rights of the maker either sees this token or is seen here.
    await lockWorkspaceAs(tx, actor, 'admin');
    const [row] = await sqlIn(tx)
      .run(insertToken, {
        workspaceId,
        kind,
        access: kind === 'library' ? access : null,
        labelId: labelId ?? null,
        tokenHash: hashToken(token),
        ...toMaker(actor),
        now,
        expiresAt: new Date(now.getTime() + seconds * 1_000),
        max: MAX_EMBED_TOKENS,
      })
      .catch((error: unknown) => {
        throw isForeignKeyViolation(error) ? notFound('Label') : error;
      });
    if (!row) throw conflict(`A workspace can have at most ${MAX_EMBED_TOKENS} embed tokens that work`);
    const after = { kind: row.kind, access: row.access, label_id: row.label_id, expires_at: row.expires_at };
    await recordAudit(tx, { ...toEntry(actor, 'embed_token.created', row, now), after });
    return { embed_token: row satisfies EmbedToken, token };
  });
}

/** A key or an app gives away no more than it has. */
function requireScopesOf({ credential }: Actor, kind: EmbedToken['kind'], access: EmbedToken['access']): void {
  if (credential?.kind !== 'key') return;
  const required: RequiredScope =
    kind === 'webhooks'
      ? { resource: 'webhooks', level: 'admin' }
      : { resource: 'library', level: access === 'upload' ? 'write' : 'read' };
  if (!includesScope(credential.scopes, required)) throw scopeMissing(required);
}

function toMaker({ userId, credential }: Actor): { userId: number; keyId: number | null; grantId: number | null } {
  const key = credential?.kind === 'key' ? credential : null;
  return { userId, keyId: key && !key.isApp ? key.id : null, grantId: key?.isApp ? key.id : null };
}

const deleteToken = statement('revoke-embed-token', {
  params: { workspaceId: int, tokenId: int },
  returns: { id: int, kind: text },
  sql: 'delete from embed_tokens where workspace_id = $workspaceId and id = $tokenId returning id, kind',
});

/** Ends a token. Throws 403 if the actor is no longer owner or admin, and 404 if it does not exist. */
export async function revokeEmbedToken(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { tokenId }: EmbedTokenInput,
): Promise<{ ok: true }> {
  await transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'admin');
    const [row] = await sqlIn(tx).run(deleteToken, { workspaceId: actor.workspaceId, tokenId });
    if (!row) throw notFound('Embed token');
    await recordAudit(tx, toEntry(actor, 'embed_token.revoked', row, clock.now()));
  });
  return { ok: true };
}

function toEntry(
  actor: Actor,
  action: 'embed_token.created' | 'embed_token.revoked',
  { id, kind }: { id: number; kind: string },
  at: Date,
): NewAuditEntry {
  const target = { kind: 'embed_token', id, name: kind } as const;
  return { workspaceId: actor.workspaceId, at, actor: auditActorOf(actor), action, target };
}

const prune = statement('prune-embed-tokens', {
  params: { now: time, max: int },
  returns: { count: int },
  sql: `
    with old as (
      select workspace_id, id from embed_tokens where expires_at < $now order by expires_at limit $max
      for update skip locked),
    deleted as (
      delete from embed_tokens e using old o where e.workspace_id = o.workspace_id and e.id = o.id returning 1)
    select count(*)::int as count from deleted`,
});

/** Deletes expired tokens. */
export async function pruneEmbedTokens({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  await inBatches(
    BATCH_SIZE,
    async () => onlyRow(await db.sql.run(prune, { now: clock.now(), max: BATCH_SIZE })).count,
  );
}
