/** What the audit log shows: the texts of actions, and the filters in the address. */
import type { Inputs, Outputs } from '@lynxroom/client';
import { toStartOfDay } from '../../../../lib/day.ts';
import type { Search } from './search.ts';

export type Entry = Outputs['audit']['list']['entries'][number];
export type Action = Entry['action'];
export type Kind = Entry['target']['kind'];
export type Verification = Outputs['audit']['verify'];
export type Filters = Pick<
  Inputs['audit']['list'],
  'actor_kind' | 'actor_user_id' | 'actor_key_id' | 'action' | 'target_kind' | 'from' | 'to'
>;

export const kindLabels: Record<Kind, string> = {
  workspace: 'Workspace',
  member: 'Members',
  invite_link: 'Invite link',
  invitation: 'Invitations',
  api_key: 'API keys',
  app: 'Connected apps',
  embed_token: 'Embed tokens',
  webhook: 'Webhooks',
  retention: 'Retention',
  connection: 'Connections',
  room: 'Rooms',
  recording: 'Recordings',
  library_item: 'Library',
  trash: 'Trash',
  label: 'Labels',
  booking_page: 'Booking pages',
  contact: 'Contacts',
  person: 'Data about people',
  audit_log: 'Audit log',
};

export const actionLabels: Record<Action, string> = {
  'workspace.renamed': 'Workspace renamed',
  'workspace.transferred': 'Ownership transferred',
  'member.joined': 'Member joined',
  'member.role_changed': 'Role changed',
  'member.left': 'Member left',
  'member.removed': 'Member removed',
  'invite_link.created': 'Invite link created',
  'invite_link.revoked': 'Invite link revoked',
  'invitation.created': 'Invitation sent',
  'invitation.resent': 'Invitation sent again',
  'invitation.accepted': 'Invitation accepted',
  'invitation.revoked': 'Invitation revoked',
  'api_key.created': 'API key created',
  'api_key.updated': 'API key changed',
  'api_key.activated': 'API key switched on',
  'api_key.deactivated': 'API key switched off',
  'api_key.rotated': 'API key rotated',
  'api_key.revoked': 'API key revoked',
  'api_key.deleted': 'API key deleted',
  'embed_token.created': 'Embed token made',
  'embed_token.revoked': 'Embed token revoked',
  'app.connected': 'App connected',
  'app.disconnected': 'App disconnected',
  'webhook.created': 'Webhook created',
  'webhook.updated': 'Webhook changed',
  'webhook.activated': 'Webhook switched on',
  'webhook.deactivated': 'Webhook switched off',
  'webhook.secret_rotated': 'Webhook secret rotated',
  'webhook.deleted': 'Webhook deleted',
  'workspace.meetings_changed': 'Meeting settings changed',
  'workspace.embed_origins_changed': 'Embedding changed',
  'workspace.sign_in_changed': 'Required sign-in changed',
  'workspace.join_domain_changed': 'Joining by domain changed',
  'workspace.branding_changed': 'Branding changed',
  'retention.changed': 'Retention changed',
  'connection.created': 'Connection created',
  'connection.rotated': 'Connection rotated',
  'connection.deleted': 'Connection deleted',
  'room.deleted': 'Room deleted',
  'room.trashed': 'Room moved to the trash',
  'room.restored': 'Room restored',
  'room.access_changed': 'Access to a room changed',
  'room.recordings_visibility_changed': 'Who can watch recordings changed',
  'room.locked': 'Room locked',
  'room.unlocked': 'Room unlocked',
  'room.closed': 'Meeting closed',
  'room.participant_removed': 'Participant removed',
  'room.pass_created': 'Pass for a room made',
  'room.pass_revoked': 'Pass for a room revoked',
  'recording.deleted': 'Recording deleted',
  'recording.trashed': 'Recording moved to the trash',
  'recording.restored': 'Recording restored',
  'library_item.deleted': 'File deleted',
  'library_item.trashed': 'File moved to the trash',
  'library_item.restored': 'File restored',
  'trash.emptied': 'Trash emptied',
  'trash.expired': 'Old trash deleted',
  'recording.expired': 'Recordings expired',
  'library_item.expired': 'Files expired',
  'label.deleted': 'Label deleted',
  'booking_page.deleted': 'Booking page deleted',
  'contact.deleted': 'Contact deleted',
  'contact.exported': 'Contacts exported',
  'person.exported': 'Data about a person exported',
  'person.erased': 'Data about a person erased',
  'audit_log.exported': 'Audit log exported',
  'audit_log.erased': 'Person erased from the audit log',
};

export const problemTexts: Record<Verification['problems'][number]['problem'], string> = {
  missing: 'the entry was deleted',
  changed: 'the entry, its number, its workspace or the previous entry was changed',
  'personal fields changed': 'names, addresses or values were changed, not erased',
  'end changed': 'the sealed end of the log was changed, or the log no longer fits it',
  'beyond the end': 'the entry was added by something other than the service',
};

/** The filters of the operation. */
export function toFilters({ who = '', what = '', from = '', to = '' }: Search): Filters {
  const [, one, id] = /^(user|key)-([1-9]\d{0,8})$/.exec(who) ?? [];
  const [first, last] = [toStartOfDay(from, 0), toStartOfDay(to, 1)];
  return {
    ...(one === 'user' && { actor_user_id: Number(id) }),
    ...(one === 'key' && { actor_key_id: Number(id) }),
    ...(isActorKind(who) && { actor_kind: who }),
    ...(isAction(what) && { action: what }),
    ...(isKind(what) && { target_kind: what }),
    ...(first !== undefined && { from: first }),
    ...(last !== undefined && { to: last }),
  };
}

/** Who acted and, if an agent acted for them, that it did. */
export function actorName({ actor }: Entry): string {
  return actor.via === 'mcp' ? `${nameOfActor(actor)} via MCP` : nameOfActor(actor);
}

function nameOfActor({ kind, user_id, participant_id, name }: Entry['actor']): string {
  if (kind === 'system') return 'The service';
  if (kind === 'participant') return `Participant ${participant_id ?? ''}`.trim();
  if (name !== null) return kind === 'key' ? `API key ${name}` : name;
  return user_id === null ? 'Unknown' : `User ${user_id}`;
}

function isActorKind(value: string): value is Entry['actor']['kind'] {
  return ['user', 'key', 'participant', 'system'].includes(value);
}

export function isAction(value: string): value is Action {
  return Object.hasOwn(actionLabels, value);
}

export function isKind(value: string): value is Kind {
  return Object.hasOwn(kindLabels, value);
}
