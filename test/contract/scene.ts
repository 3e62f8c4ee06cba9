/**
 * Equal worlds: two applications that get the same calls in the same order have the same rows with the same ids. So a
 * test can compare, field by field, what a call returns and writes over REST and over tRPC.
 */

import type { AccountTokenPurpose } from '../../src/auth/account-tokens.ts';
import { createToken, hashToken } from '../../src/auth/tokens.ts';
import { DAY_MS } from '../../src/core/time.ts';
import type { TestApp } from '../support/test-app.ts';
import { PASSWORD } from '../support/world.ts';
import { pdfMetadata } from '../uploads/tus-fixtures.ts';
import {
  addItem,
  addWebhook,
  addWorkspaceContent,
  setPoster,
  succeed,
  type User,
  type WorkspaceContent,
} from './scene-content.ts';
import { addSignInMethods, prepareSignIn } from './scene-sign-in.ts';
import type { Input } from './transports.ts';

export { addKey, dayAfterTomorrow, type User } from './scene-content.ts';

/** The domain of all addresses. */
const DOMAIN = 'example.com';

/** A workspace with content, one user of each role and a user who is not in it. */
export type Scene = WorkspaceContent & {
  app: TestApp;
  /** Tells the scenes of a world apart. */
  number: number;
  workspaceId: number;
  owner: User;
  admin: User;
  member: User;
  outsider: User;
  /** A library upload of each user, of 100 bytes of which none is stored, by the id of the user. */
  uploadIds: Readonly<Record<number, string>>;
  /** An upload of the file of the stopped recording, by the owner. */
  recordingUploadId: string;
  /** The label of the item. */
  redId: number;
  blueId: number;
  inviteToken: string;
  /** A workspace of somebody else, which all users with a confirmed address may join. */
  joinableId: number;
  /** Links that were sent to a user of the scene: their address, and the tokens. */
  links: { email: string; verifyEmail: string; takenEmail: string; resetPassword: string };
  /** A webhook that is inactive. */
  idle: { webhookId: number; deliveryId: number; messageId: string };
  /** Another workspace, whose owner is the outsider. */
  foreign: WorkspaceContent & { workspaceId: number; labelId: number; uploadId: string };
};

export type World = {
  app: TestApp;
  /** Adds another workspace with the same users. */
  addScene(): Promise<Scene>;
  addUser(name: string): Promise<User>;
};

/** Makes all calls one after another, because their order decides the ids. */
export async function createWorld(app: TestApp): Promise<World> {
  prepareSignIn(app);
  let registered = 0;
  const addUser = (name: string): Promise<User> => {
    registered += 1;
    return register(app, name, `${name.toLowerCase()}${registered}@${DOMAIN}`);
  };
  const owner = await addUser('Olive');
  const admin = await addUser('Adam');
  const member = await addUser('Mia');
  const outsider = await addUser('Otto');
  const foreign = await addForeignWorkspace(app, outsider);
  let scenes = 0;
  return {
    app,
    addUser,
    async addScene() {
      scenes += 1;
      // The host of all scenes has one calendar, and each scene has a meeting at the same time.
      const earlier = { userId: owner.id, cancelledAt: null };
      await app.services.db.booking.updateMany({ where: earlier, data: { cancelledAt: app.clock.now() } });
      const workspaceId = await addWorkspace(app, owner, 'Team');
      const path = `/api/workspaces/${workspaceId}`;
      const { token: inviteToken } = succeed(await app.http.post(`${path}/invite`, owner.token));
      for (const { token } of [admin, member])
        succeed(await app.http.post(`/api/workspaces/join/${inviteToken}`, token));
      succeed(await app.http.patch(`${path}/members/${admin.id}`, owner.token, { role: 'admin' }));
      const redId = await addLabel(app, workspaceId, admin, 'Red');
      const blueId = await addLabel(app, workspaceId, owner, 'Blue');
      const itemId = await addItem(app, workspaceId, member, 'contract.pdf');
      succeed(await app.http.post(`${path}/library/${itemId}/labels`, member.token, { labelId: redId }));
      await setPoster(app, `${path}/library/${itemId}`, member);
      const content = await addWorkspaceContent(app, workspaceId, { owner, itemId, slug: `contract-${scenes}` });
      await setPoster(app, `/api/recordings/${content.recordingId}`, owner);
      const idle = await addWebhook(app, workspaceId, owner);
      succeed(await app.http.patch(`${path}/webhooks/${idle.webhookId}`, owner.token, { toggle: true }));
      const users = { owner, admin, member, outsider };
      const uploadIds = await addLibraryUploads(app, workspaceId, [owner, admin, member]);
      const { recordingId: uploadedRecording } = content.uploadingRecording;
      const recordingUploadId = await addUpload(app, { workspaceId, recordingId: uploadedRecording, by: owner });
      const links = await addLinks(app, await addUser('Lena'), owner);
      const joinableId = await addJoinable(app, await addUser('Hanna'));
      await app.services.db.workspace.update({ where: { id: workspaceId }, data: { joinDomain: DOMAIN } });
      const rest = { joinableId, inviteToken, links, ...content, idle, foreign, uploadIds, recordingUploadId };
      return { app, number: scenes, workspaceId, ...users, redId, blueId, ...rest };
    },
  };
}

async function register(app: TestApp, name: string, email: string): Promise<User> {
  const { user, token } = succeed(
    await app.http.post('/api/auth/register', undefined, { name, email, password: PASSWORD }),
  );
  const { sessions } = succeed(await app.http.get('/api/auth/sessions', token));
  const signIn = await addSignInMethods(app, { id: user.id, email, token });
  return { id: user.id, name, email, token, sessionId: sessions[0].id, signIn };
}

/**
 * Adds links to the user, one of which would give them the address of somebody else. The rows are inserted here because
 * only a few links to one address work at once.
 */
async function addLinks(app: TestApp, { id, email }: User, other: User): Promise<Scene['links']> {
  const createdAt = app.clock.now();
  const expiresAt = new Date(createdAt.getTime() + DAY_MS);
  const create = async (purpose: AccountTokenPurpose, userId: number | null, address: string): Promise<string> => {
    const token = createToken('lnm_');
    const data = { tokenHash: hashToken(token), purpose, userId, address, createdAt, expiresAt };
    await app.services.db.accountToken.create({ data });
    return token;
  };
  return {
    email,
    verifyEmail: await create('verify_email', id, email),
    takenEmail: await create('change_email', id, other.email),
    resetPassword: await create('reset_password', null, email),
  };
}

async function addLibraryUploads(app: TestApp, workspaceId: number, users: readonly User[]) {
  const ids: Record<number, string> = {};
  for (const by of users) ids[by.id] = await addUpload(app, { workspaceId, recordingId: null, by });
  return ids;
}

/** Adds the row of an upload without bytes. Its id is not random, so that worlds stay equal. */
async function addUpload(
  app: TestApp,
  { workspaceId, recordingId, by }: { workspaceId: number; recordingId: number | null; by: User },
): Promise<string> {
  const id = `upload-${workspaceId}-${recordingId ?? 'library'}-${by.id}`;
  const now = app.clock.now();
  const file =
    recordingId === null
      ? { metadata: pdfMetadata, mediaType: 'application/pdf', fileKey: `v1/workspaces/${workspaceId}/library/${id}` }
      : { metadata: '', mediaType: 'video/mp4', fileKey: `v1/workspaces/${workspaceId}/recordings/${id}` };
  const times = { createdAt: now, expiresAt: new Date(now.getTime() + DAY_MS) };
  const who = { workspaceId, recordingId, createdBy: by.id };
  // One that nobody has continued would be replaced by the next one of its recording.
  await app.services.db.upload.create({ data: { id, ...who, ...file, length: 100, requests: 1, ...times } });
  return id;
}

async function addForeignWorkspace(app: TestApp, owner: User): Promise<Scene['foreign']> {
  const workspaceId = await addWorkspace(app, owner, 'Other');
  const labelId = await addLabel(app, workspaceId, owner, 'Foreign');
  const itemId = await addItem(app, workspaceId, owner, 'foreign.pdf');
  const content = await addWorkspaceContent(app, workspaceId, { owner, itemId, slug: 'foreign' });
  const uploadId = await addUpload(app, { workspaceId, recordingId: null, by: owner });
  return { workspaceId, labelId, uploadId, ...content };
}

async function addWorkspace(app: TestApp, owner: User, name: string): Promise<number> {
  return succeed(await app.http.post('/api/workspaces', owner.token, { name })).workspace.id;
}

async function addJoinable(app: TestApp, owner: User): Promise<number> {
  const { db, clock } = app.services;
  await db.user.update({ where: { id: owner.id }, data: { emailVerifiedAt: clock.now() } });
  const id = await addWorkspace(app, owner, 'Colleagues');
  await db.workspace.update({ where: { id }, data: { joinDomain: DOMAIN } });
  return id;
}

async function addLabel(app: TestApp, workspaceId: number, by: User, name: string): Promise<number> {
  return succeed(await app.http.post(`/api/workspaces/${workspaceId}/labels`, by.token, { name })).label.id;
}

/** The children of the foreign workspace, by the names of the input fields. */
export function foreignChildren({ foreign, outsider }: Scene): Input {
  return {
    labelId: foreign.labelId,
    itemId: foreign.itemId,
    recordingId: foreign.recordingId,
    meetingId: foreign.meetingId,
    keyId: foreign.keyId,
    tokenId: foreign.tokenId,
    passId: foreign.passId,
    webhookId: foreign.webhookId,
    deliveryId: foreign.deliveryId,
    messageId: foreign.messageId,
    connectionId: foreign.connectionId,
    participantId: foreign.participantId,
    token: foreign.participantToken,
    contactId: foreign.contactId,
    pageId: foreign.pageId,
    bookingId: foreign.bookingId,
    slug: foreign.roomName,
    roomName: foreign.roomName,
    userId: outsider.id,
    name: foreign.roomName,
    identityId: outsider.signIn.identityId,
    sessionId: outsider.sessionId,
    passkeyId: outsider.signIn.passkeyId,
    invitationId: foreign.invitation.id,
    uploadId: foreign.uploadId,
    entryId: foreign.entryId,
    appId: outsider.signIn.appId,
  };
}
