/** Reads, changes and deletes workspaces. */
import { recordAccountEvent } from '../../audit/account-events.ts';
import { auditParams, insertAuditFrom, toAuditParams } from '../../audit/audit-statements.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor, Caller } from '../../auth/identify.ts';
import { badRequest, notFound } from '../../core/errors.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import { transact } from '../../db/client.ts';
import { flagOf, secondsOf } from '../../db/columns.ts';
import { byTime, pagedList, readPage, runPage, timeKey, timeKeyOf, toPage } from '../../db/pages.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, float, int, json, nullable, statement, text, texts, time } from '../../db/statements.ts';
import { allowLongStatements } from '../../db/time-limits.ts';
import type { Services } from '../../services.ts';
import { startRemoval } from '../../storage/discarded-objects.ts';
import { mailEndOfWorkspace } from '../booking-mails/end-bookings.ts';
import type { Member } from '../members/schemas.ts';
import { checkEmbedOrigins } from './embed-origins.ts';
import { toWorkspace } from './present.ts';
import type { Workspace, WorkspaceChangeInput, WorkspaceSummary, WorkspaceWithMembers } from './schemas.ts';

const summaryFields = { id: int, name: text, slug: text, owner_id: int, created_at: float };
const summaryColumns = `w.id, w.name, w.slug, w.owner_id, ${secondsOf('w.created_at')} as created_at`;

const workspacesOf = pagedList('list-workspaces', {
  order: byTime('w.created_at', 'w.id', 'asc'),
  params: { userId: int, keyWorkspaceId: nullable(int) },
  returns: { ...summaryFields, is_personal: int, owner_name: text, ...timeKey },
  sql: ({ after, window }) => `
    select ${summaryColumns}, ${flagOf('w.is_personal')} as is_personal, o.name as owner_name,
      ${timeKeyOf('w.created_at')}
    from members m join workspaces w on w.id = m.workspace_id join users o on o.id = w.owner_id
    where m.user_id = $userId and ($keyWorkspaceId is null or w.id = $keyWorkspaceId)
    ${after} ${window}`,
});

type ListedMember = Member & { page_key: number };

/**
 * Returns the workspace in one row, with a page of its members as a list in `members`, in the order in which they
 * joined.
 */
const workspaceWithMembers = pagedList('read-workspace', {
  order: byTime('joined_at', 'user_id', 'asc'),
  params: { workspaceId: int },
  returns: {
    ...summaryFields,
    media_retention_days: nullable(int),
    is_personal: int,
    embed_origins: json<string[]>('json'),
    members: json<ListedMember[]>('json'),
  },
  sql: ({ after, window }) => `
    select ${summaryColumns}, w.media_retention_days, ${flagOf('w.is_personal')} as is_personal,
      to_json(w.embed_origins) as embed_origins,
      coalesce((
        select json_agg(json_build_object('id', l.user_id, 'name', u.name, 'email', u.email, 'role', l.role,
          'email_verified', u.email_verified_at is not null, 'joined_at', ${secondsOf('l.joined_at')},
          'page_key', l.page_key) order by l.joined_at, l.user_id)
        from (
          select user_id, role, joined_at, ${timeKeyOf('joined_at')} from members
          where workspace_id = w.id ${after} ${window}) l
        join users u on u.id = l.user_id), '[]') as members
    from workspaces w where w.id = $workspaceId`,
});

const change = statement('change-workspace', {
  params: { workspaceId: int, name: nullable(text), embedOrigins: nullable(texts), ...auditParams },
  returns: {
    id: int,
    name: text,
    slug: text,
    ownerId: int,
    isPersonal: bool,
    mediaRetentionDays: nullable(int),
    createdAt: time,
    embedOrigins: json<string[]>('json'),
  },
  sql: `
    with old as (select id, name, embed_origins from workspaces where id = $workspaceId for no key update),
    changed as (
      update workspaces w set name = coalesce($name, old.name),
        embed_origins = coalesce($embedOrigins, old.embed_origins)
      from old where w.id = old.id returning w.*),
    renamed as (${insertAuditFrom('old where name <> $name', {
      target: 'workspace',
      action: 'workspace.renamed',
      targetId: 'id',
      details:
        "json_build_object('before', json_build_object('name', name), 'after', json_build_object('name', $name))",
    })}),
    embedded as (${insertAuditFrom('old where embed_origins <> $embedOrigins', {
      target: 'workspace',
      action: 'workspace.embed_origins_changed',
      targetId: 'id',
      details: `json_build_object('before', json_build_object('embed_origins', embed_origins),
        'after', json_build_object('embed_origins', $embedOrigins))`,
    })})
    select id, name, slug, owner_id as "ownerId", is_personal as "isPersonal",
      media_retention_days as "mediaRetentionDays", created_at as "createdAt",
      to_json(embed_origins) as "embedOrigins"
    from changed`,
});

/** Lists the workspaces that the caller is a member of, oldest first. For an API key, lists only its workspace. */
export function listWorkspaces(
  { db }: Pick<Services, 'db'>,
  caller: Caller,
  page: ListPageInput,
): Promise<Page<WorkspaceSummary>> {
  const { userId, credential } = caller;
  const keyWorkspaceId = credential.kind === 'key' ? credential.workspaceId : null;
  return readPage(db.sql, workspacesOf, { userId, keyWorkspaceId }, page, []);
}

/** Returns a workspace with a page of its members, sorted by when they joined. Throws 404. */
export async function readWorkspace(
  { db }: Pick<Services, 'db'>,
  { workspaceId, role }: Actor,
  page: ListPageInput,
): Promise<{ workspace: WorkspaceWithMembers; next_cursor?: string | undefined }> {
  const [workspace] = await runPage(db.sql, workspaceWithMembers, { workspaceId }, page, [workspaceId]);
  if (!workspace) throw notFound('Workspace');
  const { entries: members, next_cursor } = toPage(workspaceWithMembers, workspace.members, page, [workspaceId]);
  return { workspace: { ...workspace, members, role }, next_cursor };
}

/** Renames a workspace, or says who may embed it. Its slug does not change. Throws 400 and 404. */
export async function changeWorkspace(
  { db, clock, settings }: Pick<Services, 'db' | 'clock' | 'settings'>,
  actor: Actor,
  { name, embed_origins: embedOrigins }: WorkspaceChangeInput,
): Promise<Workspace> {
  checkEmbedOrigins(embedOrigins ?? [], settings.embedsInHttp);
  const audit = toAuditParams(auditActorOf(actor), clock.now());
  const [row] = await db.sql.run(change, {
    workspaceId: actor.workspaceId,
    name: name ?? null,
    embedOrigins: embedOrigins ?? null,
    ...audit,
  });
  if (!row) throw notFound('Workspace');
  return toWorkspace(row, actor.role);
}

const lockDeleted = statement('lock-workspace-to-delete', {
  params: { workspaceId: int },
  returns: { name: text, is_personal: bool },
  sql: 'select name, is_personal from workspaces where id = $workspaceId for update',
});

/**
 * Deletes a workspace with everything in it. Its files are deleted in the background. Throws 404, and 400 for the
 * Personal workspace.
 */
export async function deleteWorkspace(services: Services, actor: Actor): Promise<{ ok: true }> {
  const remove = () =>
    transact(services.db, async (tx) => {
      // Locks the workspace first, so that a concurrent upload waits and then finds no workspace.
      const [workspace] = await sqlIn(tx).run(lockDeleted, { workspaceId: actor.workspaceId });
      if (!workspace) throw notFound('Workspace');
      if (workspace.is_personal) throw badRequest('The Personal workspace cannot be deleted');
      await mailEndOfWorkspace(services, sqlIn(tx), actor.workspaceId, services.clock.now());
      await tx.workspace.deleteMany({ where: { id: actor.workspaceId } });
      // The audit log of the workspace is deleted with it.
      await recordAccountEvent(tx, {
        userId: actor.userId,
        at: services.clock.now(),
        action: 'workspace_deleted',
        address: actor.address,
        details: { workspace_id: actor.workspaceId, name: workspace.name },
      });
    });
  await allowLongStatements(remove);
  // There may be many files.
  startRemoval(services);
  return { ok: true };
}
