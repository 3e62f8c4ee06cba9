/** The settings of a workspace for the meetings in all of its rooms. */
import { auditParams, insertAuditFrom, toAuditParams } from '../../audit/audit-statements.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { int, nullable, oneOf, statement } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { MeetingSettings } from './schemas.ts';

const settingsOf = statement('read-meeting-settings', {
  params: { workspaceId: int },
  returns: { media: nullable(oneOf<'mesh'>()) },
  sql: 'select media from workspaces where id = $workspaceId',
});

const change = statement('set-meeting-settings', {
  params: { workspaceId: int, media: nullable(oneOf<'mesh'>()), ...auditParams },
  returns: { id: int },
  sql: `
    with old as (select id, media from workspaces where id = $workspaceId for no key update),
    changed as (update workspaces w set media = $media from old where w.id = old.id returning w.id),
    audited as (${insertAuditFrom('old where media is distinct from $media', {
      target: 'workspace',
      action: 'workspace.meetings_changed',
      targetId: 'id',
      details: `json_build_object('before', json_build_object('media', media),
        'after', json_build_object('media', $media))`,
    })})
    select id from changed`,
});

/** Reads the settings. Throws 404 if the workspace has been deleted. */
export async function readMeetingSettings(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
): Promise<MeetingSettings> {
  const [settings] = await db.sql.run(settingsOf, { workspaceId });
  if (!settings) throw notFound('Workspace');
  return settings;
}

/** Changes the settings. Meetings that are running follow within half a minute. Throws 404. */
export async function setMeetingSettings(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { media }: MeetingSettings,
): Promise<MeetingSettings> {
  const audit = toAuditParams(auditActorOf(actor), clock.now());
  const rows = await db.sql.run(change, { workspaceId: actor.workspaceId, media, ...audit });
  if (rows.length === 0) throw notFound('Workspace');
  return { media };
}
