/** The actions that the audit log of a workspace records. */

/** The actions, grouped by the kind of their target. The name of an action begins with that of its target. */
export const auditActions = {
  workspace: ['workspace.renamed', 'workspace.transferred', 'workspace.meetings_changed'],
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
  recording: ['recording.deleted', 'recording.expired'],
