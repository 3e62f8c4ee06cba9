/** Calls whose errors do not follow from the rows of the contract tests: what the service must hold, and the input. */

import type { QuotaName } from '../../src/quotas/quotas.ts';
import type { Scene } from '../contract/scene.ts';
import { PAGE } from '../contract/scene-content.ts';
import type { Input } from '../contract/transports.ts';

type Prepare = (scene: Scene) => Promise<Input> | Input;

export const exampleErrors: Readonly<Record<string, (scene: Scene) => Input>> = {
  'auth.login': () => ({ password: 'a wrong password' }),
  'openid.start': () => ({ provider: 'unknown' }),
  'openid.complete': () => ({ state: 'unknown' }),
  'workspaces.join': () => ({ token: 'no-such-token' }),
  'workspaces.lookUpInvite': () => ({ token: 'no-such-token' }),
  'workspaces.joinByDomain': () => ({ id: 2_000_000_000 }),
  'invitations.lookUp': () => ({ token: 'no-such-token' }),
  'invitations.accept': () => ({ token: 'no-such-token' }),
  'rooms.readPublic': () => ({ roomName: 'no-such-room' }),
  'participants.join': () => ({ roomName: 'no-such-room' }),
  'bookings.times': () => ({ slug: 'no-such-page' }),
  'bookings.book': () => ({ slug: 'no-such-page' }),
  'ingest.callback': () => ({ connectionId: 'unknown' }),
};

/** Calls that are refused because of something that was done before. */
export const exampleConflicts: Readonly<Record<string, Prepare>> = {
  'workspaces.create': (scene) => withQuota(scene, 'workspaces', 1),
  'workspaces.join': (scene) => withQuota(scene, 'members', 3),
  'invitations.accept': (scene) => withQuota(scene, 'members', 3),
  'invitations.resend': revokeInvitation,
  'invitations.revoke': revokeInvitation,
  'library.upload': (scene) => withQuota(scene, 'items', 1),
  async 'secondFactor.setUp'({ app, outsider }) {
    const at = app.clock.now();
    await app.services.db.secondFactor.create({
      data: { userId: outsider.id, sealedSecret: new Uint8Array(), createdAt: at, confirmedAt: at },
    });
    return {};
  },
  'apiKeys.create': (scene) => withQuota(scene, 'apiKeys', 1),
  'webhooks.create': (scene) => withQuota(scene, 'webhooks', 2),
  'connections.create': (scene) => withQuota(scene, 'connections', 2),
  'recordings.saveToLibrary': ({ stoppedRecording: { recordingId } }) => ({ recordingId }),
  'participants.presence': () => ({ connection_id: 'page-of-nobody' }),
  async 'participants.signal'({ app, workspaceId }) {
    await app.services.db.meetingPage.updateMany({
      where: { workspaceId, connectionId: PAGE },
      data: { seatedAt: null, replacedAt: app.clock.now() },
    });
    return {};
  },
  async 'participants.admit'(scene) {
    await decide(scene, 'refuse');
    return {};
  },
  async 'participants.refuse'(scene) {
    await decide(scene, 'admit');
    return {};
  },
  async 'contacts.update'({ app, workspaceId, owner }) {
    const walt = { name: 'Walt Weber', email: 'walt@example.com' };
    await app.http.post(`/api/workspaces/${workspaceId}/contacts`, owner.token, walt);
    return walt;
  },
  async 'rooms.update'({ app, workspaceId, owner }) {
    const taken = { workspace_id: workspaceId, name: 'other-room', session_id: '1_MX4x' };
    await app.http.post('/api/dashboard/rooms', owner.token, taken);
    return { session_id: taken.session_id };
  },
  async 'apiKeys.toggle'({ app, keyId }) {
    await app.services.db.apiKey.updateMany({
      where: { id: keyId },
      data: { isActive: false, revokedAt: new Date(0) },
    });
    return { is_active: 1 };
  },
  'openid.link': () => ({ provider: 'unknown' }),
  'openid.reauthenticate': () => ({ provider: 'unknown' }),
  async 'openid.complete'({ app, member }) {
    await app.services.db.openidIdentity.deleteMany({ where: { userId: member.id } });
    return {};
  },
  async 'apiKeys.rotate'({ app, workspaceKeyId }) {
    await app.services.db.apiKey.updateMany({
      where: { id: workspaceKeyId },
      data: { isActive: false, revokedAt: new Date(0) },
    });
    return {};
  },
  async 'bookings.confirm'({ app, owner }) {
    const data = { confirmBy: app.clock.now() };
    await app.services.db.booking.updateMany({ where: { userId: owner.id, confirmBy: { not: null } }, data });
    return {};
  },
  async 'bookings.approve'({ app, unconfirmedId: id }) {
    await app.services.db.booking.updateMany({ where: { id }, data: { confirmBy: app.clock.now() } });
    return {};
  },
  'bookings.cancel': startMeeting,
  'bookings.cancelByTeam': startMeeting,
  'bookings.rescheduleByTeam': startMeeting,
};

async function decide({ app, roomName, participantId, owner }: Scene, decision: 'admit' | 'refuse'): Promise<void> {
  const path = `/api/dashboard/rooms/${roomName}/participants/${participantId}/${decision}`;
  await app.http.post(path, owner.token);
}

async function startMeeting({ app, bookingId }: Scene): Promise<Input> {
  await app.services.db.booking.updateMany({ where: { id: bookingId }, data: { startsAt: app.clock.now() } });
  return {};
}

async function revokeInvitation({ app, workspaceId, invitation, owner }: Scene): Promise<Input> {
  await app.http.delete(`/api/workspaces/${workspaceId}/invitations/${invitation.id}`, owner.token);
  return {};
}

/** Sets a quota that the scene has reached. */
function withQuota({ app }: Scene, name: QuotaName, quota: number): Input {
  Object.assign(app.services.settings.quotas, { [name]: quota });
  return {};
}
