/** The kinds of callers of the authorisation matrix, and the status that each of them gets. */
import { expect } from 'vitest';
import { isAtLeast, type Role } from '../../../src/core/roles.ts';
import type { Row } from '../row.ts';
import { addKey, type Scene, type User, type World } from '../scene.ts';
import { isQuery } from '../transports.ts';

/** The credential of a kind of caller, and the role that it gives. */
type Credential = {
  kind: 'none' | 'session' | 'key';
  /** Set if the credential is sent and is not valid. */
  isInvalid?: true;
  /** The role in the workspace of the call. */
  role: Role | null;
  /** What a key is limited to. */
  scope?: 'read' | 'write' | 'admin';
  /** Set for a key that may not be used from the address of the tests. */
  isElsewhere?: true;
  /** Set for the owner of the scene's room, by a credential that is valid in its workspace. */
  ownsRoom?: true;
  /** The operations that refuse this caller with 409 although it may call them. */
  conflicts?: readonly string[];
};

/** A member cannot accept an invitation. The owner of a workspace with other members cannot delete their account. */
const ofMember = { conflicts: ['invitations.accept'] };
const ofOwner = { conflicts: ['invitations.accept', 'auth.deleteMe'] };

export const callers = {
  anonymous: { kind: 'none', role: null },
  outsider: { kind: 'session', role: null },
  member: { kind: 'session', role: 'member', ...ofMember },
  admin: { kind: 'session', role: 'admin', ...ofMember },
  owner: { kind: 'session', role: 'owner', ownsRoom: true, ...ofOwner },
  'removed member': { kind: 'session', role: null },
  'key of the owner': { kind: 'key', role: 'owner', ownsRoom: true },
  'key of an admin': { kind: 'key', role: 'admin' },
  'key of the owner for another workspace': { kind: 'key', role: null },
  'key of an outsider': { kind: 'key', role: null },
  'key of the owner with the scope read': { kind: 'key', role: 'owner', ownsRoom: true, scope: 'read' },
  'key of the owner with the scope write': { kind: 'key', role: 'owner', ownsRoom: true, scope: 'write' },
  'key of the owner with the scope admin': { kind: 'key', role: 'owner', ownsRoom: true, scope: 'admin' },
  'key of the workspace': { kind: 'key', role: 'admin', ownsRoom: true },
  'key of the workspace with the scope read': {
    kind: 'key',
    role: 'admin',
    ownsRoom: true,
    scope: 'read',
  },
  'key for another network': { kind: 'none', role: null, isInvalid: true, isElsewhere: true },
  'expired key': { kind: 'none', role: null, isInvalid: true },
  'inactive key': { kind: 'none', role: null, isInvalid: true },
  'key whose creator left': { kind: 'none', role: null, isInvalid: true },
  'key that was deleted': { kind: 'none', role: null, isInvalid: true },
} as const satisfies Record<string, Credential>;

export type CallerName = keyof typeof callers;
// `Object.keys` returns the keys as plain strings.
export const callerNames = Object.keys(callers) as CallerName[];

/** The status that a caller gets for a call with the valid input of the row. */
export function expectedStatus(name: string, row: Row, callerName: CallerName): number {
  const caller: Credential = callers[callerName];
  const success = row.status ?? 200;
  const refusal = refusalOf(callerName);
  if (row.who === 'anyone') {
    if (!row.acceptsCredential) return success;
    return refusal !== null && caller.isInvalid ? refusal : caller.kind === 'key' && !row.keys ? 403 : success;
  }
  // A provider signs its calls. Other credentials are ignored.
  if (row.who === 'provider') return 401;
  if (refusal !== null) return refusal;
  if (caller.kind === 'key' && !row.keys) return 403;
  if (lacksScope(name, row, caller)) return 403;
  if (caller.conflicts?.includes(name)) return 409;
  if (row.who === 'user') return success;
  if (row.who === 'room host') return caller.ownsRoom || hasRole(caller, 'admin') ? success : 404;
  return hasRole(caller, row.who) ? success : 403;
}

/** The status of every call without a valid credential; null for a caller with one. */
export function refusalOf(callerName: CallerName): 401 | 403 | null {
  const { kind, isElsewhere }: Credential = callers[callerName];
  return kind !== 'none' ? null : isElsewhere ? 403 : 401;
}

/** Whether a key that may call the operation lacks the scope that follows from the role and the kind of the call. */
export function lacksScope(name: string, { who, keys, scope: level }: Row, { kind, role, scope }: Credential): boolean {
  if (kind !== 'key' || scope === undefined || !keys || role === null) return false;
  const levels = ['read', 'write', 'admin'];
  const required = level ?? (isQuery(name) ? 'read' : who === 'admin' || who === 'owner' ? 'admin' : 'write');
  return levels.indexOf(scope) < levels.indexOf(required);
}

function hasRole({ role }: Credential, min: Role): boolean {
  return role !== null && isAtLeast(role, min);
}

/** The error message, if it follows from the status. */
export function expectedMessage(name: string, row: Row, callerName: CallerName, status: number): string | undefined {
  const caller: Credential = callers[callerName];
  if (caller.isElsewhere && row.who !== 'provider') return 'This API key may not be used from the address 127.0.0.1';
  // It names the scope, which other tests check.
  if (status === 403 && lacksScope(name, row, caller)) return undefined;
  switch (status) {
    case 401:
      return row.unauthorized ?? 'Unauthorized';
    case 403:
      return row.forbidden ?? 'Forbidden';
    case 404:
      return Object.values(row.children ?? {})[0];
    default:
      return undefined;
  }
}

export type Caller = { token: string | undefined; user: User };

/** One caller of each kind for the workspace of the scene. Every key that is valid has been used before. */
export async function createCallers(world: World, scene: Scene): Promise<Record<CallerName, Caller>> {
  const { app, workspaceId, owner, admin, member, outsider } = scene;
  const { http } = app;
  const path = `/api/workspaces/${workspaceId}`;
  const removed = await world.addUser('Remo');
  const leaver = await world.addUser('Lea');
  for (const { token } of [removed, leaver]) await http.post(`/api/workspaces/join/${scene.inviteToken}`, token);
  await http.patch(`${path}/members/${leaver.id}`, owner.token, { role: 'admin' });
  const second = await http.post('/api/workspaces', owner.token, { name: 'Second' });
  const ofOwner = await addKey(app, workspaceId, owner);
  const ofAdmin = await addKey(app, workspaceId, admin);
  const elsewhere = await addKey(app, second.body.workspace.id, owner);
  const ofOutsider = await addKey(app, scene.foreign.workspaceId, outsider);
  const inactive = await addKey(app, workspaceId, owner);
  const ofLeaver = await addKey(app, workspaceId, leaver);
  const deleted = await addKey(app, workspaceId, owner);
  const reader = await addKey(app, workspaceId, owner, { scopes: ['read'] });
  const writer = await addKey(app, workspaceId, owner, { scopes: ['write'] });
  const manager = await addKey(app, workspaceId, owner, { scopes: ['admin'] });
  const ofWorkspace = await addKey(app, workspaceId, admin, { belongs_to: 'workspace' });
  const readerOfWorkspace = await addKey(app, workspaceId, admin, { belongs_to: 'workspace', scopes: ['read'] });
  const expired = await addKey(app, workspaceId, owner);
  const distant = await addKey(app, workspaceId, owner, { allowed_networks: ['203.0.113.0/24', '2001:db8::/48'] });
  for (const { key } of [reader, writer, manager, ofWorkspace, readerOfWorkspace, expired])
    expect((await http.get('/api/workspaces', key)).status).toBe(200);
  await app.services.db.apiKey.updateMany({ where: { id: expired.id }, data: { expiresAt: app.clock.now() } });
  for (const { key } of [ofOwner, ofAdmin, elsewhere, ofOutsider, inactive, ofLeaver, deleted])
    expect((await http.get('/api/workspaces', key)).status).toBe(200);
  await http.patch(`${path}/api-keys/${inactive.id}`, owner.token, { is_active: 0 });
  await http.delete(`${path}/api-keys/${deleted.id}`, owner.token);
  await http.delete(`${path}/members/${leaver.id}`, leaver.token);
  await http.delete(`${path}/members/${removed.id}`, owner.token);
  // Leaving revoked the key. It must be rejected for the missing membership too.
  await app.services.db.apiKey.updateMany({ where: { id: ofLeaver.id }, data: { isActive: true, revokedAt: null } });
  // Removing a member revoked the invite link.
  scene.inviteToken = (await http.post(`${path}/invite`, owner.token)).body.token;
  return {
    anonymous: { token: undefined, user: member },
    outsider: { token: outsider.token, user: outsider },
    member: { token: member.token, user: member },
    admin: { token: admin.token, user: admin },
    owner: { token: owner.token, user: owner },
    'removed member': { token: removed.token, user: removed },
    'key of the owner': { token: ofOwner.key, user: owner },
    'key of an admin': { token: ofAdmin.key, user: admin },
    'key of the owner for another workspace': { token: elsewhere.key, user: owner },
    'key of an outsider': { token: ofOutsider.key, user: outsider },
    'key of the owner with the scope read': { token: reader.key, user: owner },
    'key of the owner with the scope write': { token: writer.key, user: owner },
    'key of the owner with the scope admin': { token: manager.key, user: owner },
    'key of the workspace': { token: ofWorkspace.key, user: owner },
    'key of the workspace with the scope read': { token: readerOfWorkspace.key, user: owner },
    'key for another network': { token: distant.key, user: owner },
    'expired key': { token: expired.key, user: owner },
    'inactive key': { token: inactive.key, user: owner },
    'key whose creator left': { token: ofLeaver.key, user: leaver },
    'key that was deleted': { token: deleted.key, user: owner },
  };
}
