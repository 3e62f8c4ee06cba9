import type { AuditActor } from '../audit/record-audit.ts';
import type { Actor } from './identify.ts';

/** Converts an actor or a caller to the form that the audit log records. */
export function auditActorOf({ userId, name, credential, address }: Omit<Actor, 'workspaceId' | 'role'>): AuditActor {
  if (credential === null) return { kind: 'system' };
  if (credential.kind === 'key') {
    const { id: keyId, isOfWorkspace, isApp, via } = credential;
    if (isApp) return { kind: 'user', userId, name, address, ...(via && { via }) };
    const acting = isOfWorkspace ? { userId: null, name: credential.name } : { userId, name };
    return { kind: 'key', keyId, ...acting, address, ...(via && { via }) };
  }
  return { kind: 'user', userId, name, address };
}
