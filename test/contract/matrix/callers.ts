/** The kinds of callers of the authorisation matrix, and the status that each of them gets. */
import { expect } from 'vitest';
import { isAtLeast, type Role } from '../../../src/core/roles.ts';
import type { Row } from '../row.ts';
import { addKey, type Scene, type User, type World } from '../scene.ts';

/** The credential of a kind of caller, and the role that it gives. */
type Credential = {
  kind: 'none' | 'session' | 'key';
  /** Set if the credential is sent and is not valid. */
  isInvalid?: true;
  /** The role in the workspace of the call. */
  role: Role | null;
  /** Set for the owner of the scene's room, by a credential that is valid in its workspace. */
  ownsRoom?: true;
  /** The operations that refuse this caller with 409 although it may call them. */
  conflicts?: readonly string[];
};

/** The owner of a workspace with other members cannot delete their account. */
const conflicts = ['auth.deleteMe'];

export const callers = {
  anonymous: { kind: 'none', role: null },
  outsider: { kind: 'session', role: null },
  member: { kind: 'session', role: 'member' },
  admin: { kind: 'session', role: 'admin' },
  owner: { kind: 'session', role: 'owner', ownsRoom: true, conflicts },
  'removed member': { kind: 'session', role: null },
  'key of the owner': { kind: 'key', role: 'owner', ownsRoom: true },
  'key of an admin': { kind: 'key', role: 'admin' },
  'key of the owner for another workspace': { kind: 'key', role: null },
  'key of an outsider': { kind: 'key', role: null },
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
  if (row.who === 'anyone') return row.acceptsCredential && caller.isInvalid ? 401 : success;
  // A provider signs its calls. Other credentials are ignored.
  if (row.who === 'provider' || caller.kind === 'none') return 401;
  if (caller.kind === 'key' && !row.keys) return 403;
  if (caller.conflicts?.includes(name)) return 409;
  if (row.who === 'user') return success;
  if (row.who === 'room owner') return caller.ownsRoom ? success : 404;
  if (row.who === 'room host') return caller.ownsRoom || hasRole(caller, 'admin') ? success : 404;
  return hasRole(caller, row.who) ? success : 403;
}

function hasRole({ role }: Credential, min: Role): boolean {
  return role !== null && isAtLeast(role, min);
}

/** The error message, if it follows from the status. */
export function expectedMessage(row: Row, status: number): string | undefined {
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
    'inactive key': { token: inactive.key, user: owner },
    'key whose creator left': { token: ofLeaver.key, user: leaver },
    'key that was deleted': { token: deleted.key, user: owner },
  };
}
