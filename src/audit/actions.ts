/** The actions that the audit log of a workspace records. */

/** The actions, grouped by the kind of their target. The name of an action begins with that of its target. */
export const auditActions = {
  workspace: [
    'workspace.renamed',
    'workspace.transferred',
    'workspace.meetings_changed',
    'workspace.embed_origins_changed',
    'workspace.sign_in_changed',
    'workspace.join_domain_changed',
    'workspace.branding_changed',
  ],
  member: ['member.joined', 'member.role_changed', 'member.left', 'member.removed'],
  invite_link: ['invite_link.created', 'invite_link.revoked'],
  invitation: ['invitation.created', 'invitation.resent', 'invitation.accepted', 'invitation.revoked'],
  api_key: [
    'api_key.created',
    'api_key.updated',
    'api_key.activated',
    'api_key.deactivated',
    'api_key.rotated',
    'api_key.revoked',
    'api_key.deleted',
  ],
  embed_token: ['embed_token.created', 'embed_token.revoked'],
  app: ['app.connected', 'app.disconnected'],
  webhook: [
    'webhook.created',
    'webhook.updated',
    'webhook.activated',
    'webhook.deactivated',
    'webhook.secret_rotated',
    'webhook.deleted',
  ],
  retention: ['retention.changed'],
  connection: ['connection.created', 'connection.rotated', 'connection.deleted'],
  room: [
    'room.deleted',
    'room.trashed',
    'room.restored',
    'room.access_changed',
    'room.recordings_visibility_changed',
    'room.locked',
    'room.unlocked',
    'room.closed',
    'room.participant_removed',
    'room.pass_created',
    'room.pass_revoked',
  ],
  recording: ['recording.deleted', 'recording.trashed', 'recording.restored', 'recording.expired'],
  library_item: ['library_item.deleted', 'library_item.trashed', 'library_item.restored', 'library_item.expired'],
  trash: ['trash.emptied', 'trash.expired'],
  label: ['label.deleted'],
  booking_page: ['booking_page.deleted'],
  contact: ['contact.deleted', 'contact.exported'],
  person: ['person.exported', 'person.erased'],
  audit_log: ['audit_log.exported', 'audit_log.erased'],
} as const;

export type AuditTarget = keyof typeof auditActions;
export type AuditAction = (typeof auditActions)[AuditTarget][number];

/** Who acts: a person, an API key, a participant with the rights of a host, or the service itself. */
export const auditActorKinds = ['user', 'key', 'participant', 'system'] as const;
export type AuditActorKind = (typeof auditActorKinds)[number];
