import type { AuditActor } from '../audit/record-audit.ts';
import type { Actor } from './identify.ts';
import type { PassHolder } from './participants.ts';

/** Converts an actor, a caller or the holder of a pass to the form that the audit log records. */
export function auditActorOf(acting: Omit<Actor, 'workspaceId' | 'role'> | PassHolder): AuditActor {
  if ('participant' in acting) return { kind: 'participant', participantId: acting.participant.id };
  const { userId, name, credential, address } = acting;
  if (credential === null) return { kind: 'system' };
  if (credential.kind === 'key') {
    const { id: keyId, isOfWorkspace, isApp, embed, via } = credential;
    if (embed) return { kind: 'user', userId, name, address };
    if (isApp) return { kind: 'user', userId, name, address, ...(via && { via }) };
    const acting = isOfWorkspace ? { userId: null, name: credential.name } : { userId, name };
    return { kind: 'key', keyId, ...acting, address, ...(via && { via }) };
  }
  return { kind: 'user', userId, name, address };
}
