/** Fills the workspace of a scene with a room, participants, recordings, bookings, keys, connections and webhooks. */

import { createToken, hashToken } from '../../src/auth/tokens.ts';
import type { Sealer } from '../../src/core/sealing.ts';
import { DAY_MS, MINUTE_MS } from '../../src/core/time.ts';
import { type Prisma, type Tx, transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { bookingTokenSeal } from '../../src/features/booking-mails/booking-mails.ts';
import { weekdays } from '../../src/features/booking-pages/opening-hours.ts';
import { recordContactEvent } from '../../src/features/contacts/record-contact-event.ts';
import { defaultQuotas } from '../../src/quotas/quotas.ts';
import { advance, start, storeFile } from '../recordings/recording-fixtures.ts';
import { bookingPageData } from '../support/booking-page.ts';
import { findOrCreateContact } from '../support/contacts.ts';
import { jpeg } from '../support/images.ts';
import { makePdf } from '../support/media.ts';
import type { TestApp } from '../support/test-app.ts';
import { upload } from '../support/world.ts';
import { imageContent } from './content.ts';
import type { SignInMethods } from './scene-sign-in.ts';

export type User = { id: number; name: string; email: string; token: string; sessionId: number; signIn: SignInMethods };

/** One of each child that a workspace has, besides its labels. */
export type WorkspaceContent = {
  itemId: number;
  /** The owner's room. It is also the slug of the booking page. */
  roomName: string;
  /** Another room of the owner, which nobody has used. */
  quietRoomName: string;
  /** A recording that is available. Participant `participantToken` started it. */
  recordingId: number;
  /** A recording that was stopped and whose file has not been uploaded. */
  stoppedRecording: { recordingId: number; uploadToken: string };
  /** Another one, whose file is being uploaded in several requests. */
  uploadingRecording: { recordingId: number; uploadToken: string };
  /** A participant who waits to be admitted. */
  participantId: number;
  /** The meeting in the room, which is in progress. */
  meetingId: number;
  /** The token of a participant who is in the room. */
  participantToken: string;
  /** Another participant in the room. Both have pages that exchange media. */
  peerId: number;
  /** The token of a link with which somebody can enter the room. */
  linkToken: string;
  /** The pass of that link. */
  passId: number;
  contactId: number;
  /** A booking page that is open day and night. */
  pageId: number;
  /** A booking page without bookings. */
  quietPageId: number;
  /** A meeting with the owner on the day after tomorrow, at 10:00. */
  bookingId: number;
  cancelToken: string;
  /** The token that confirms another meeting with the owner. */
  confirmToken: string;
  unconfirmedId: number;
  /** The token of the calendar feed of the owner. */
  feedToken: string;
  /** A key of the owner. */
  keyId: number;
  /** A key that belongs to the workspace. */
  workspaceKeyId: number;
  key: string;
  /** An embed token for the library. */
  tokenId: number;
  /** A connection to a LiveKit account. */
  connectionId: number;
  /** A connection to a generic provider: the last part of its `ingest_url`, and its signing secret. */
  provider: { ingestId: string; secret: string };
  /** A webhook with a message that was delivered and, after it, one that was cancelled. */
  webhookId: number;
  /** The message that was delivered. */
  messageId: string;
  /** The attempt that delivered it. */
  deliveryId: number;
  /** The last part of the URL of the logo. */
  logoName: string;
  /** A pending invitation. */
  invitation: { id: number; token: string };
  /** An item in the trash. */
  entryId: number;
};

/** Adds everything, in an order that decides the ids. `slug` names the room and the booking page. */
export async function addWorkspaceContent(
  app: TestApp,
  workspaceId: number,
  { owner, itemId, slug }: { owner: User; itemId: number; slug: string },
): Promise<WorkspaceContent> {
  const roomId = await addRoom(app, workspaceId, owner, slug);
  const stoppedRecording = await addStoppedRecording(app, owner, slug, 'stopped');
  const uploadingRecording = await addStoppedRecording(app, owner, slug, 'uploading');
  const recordingId = await addRecording(app, workspaceId, roomId);
  const visit = await addVisit(app, { workspaceId, userId: owner.id, roomId, slug });
  const participants = await addParticipants(app, { workspaceId, roomId, recordingId });
  const { id: keyId, key } = await addKey(app, workspaceId, owner);
  const { id: workspaceKeyId } = await addKey(app, workspaceId, owner, { belongs_to: 'workspace' });
  const { id: connectionId } = await addConnection(app, workspaceId, owner, {
    provider: 'livekit',
    credentials: { api_key: 'APIscene', api_secret: 'a secret of the scene' },
  });
  const { ingest_url, secret } = await addConnection(app, workspaceId, owner, { provider: 'generic' });
  return {
    itemId,
    roomName: slug,
    quietRoomName: await addQuietRoom(app, workspaceId, owner, `${slug}-quiet`),
    recordingId,
    stoppedRecording,
    uploadingRecording,
    ...visit,
    ...participants,
    keyId,
    key,
    workspaceKeyId,
    connectionId,
    provider: { ingestId: ingest_url.split('/').at(-1) ?? '', secret: secret ?? '' },
    ...(await addWebhook(app, workspaceId, owner)),
    invitation: await addInvitation(app, workspaceId, owner),
    logoName: await addLogo(app, workspaceId, owner),
    entryId: await addTrashEntry(app, workspaceId, owner),
    tokenId: await addEmbedToken(app, workspaceId, owner),
  };
}

/** The body of a successful response. */
export function succeed<Body>(answer: { status: number; body: Body }): Body {
  if (answer.status !== 200 && answer.status !== 201)
    throw new Error(`Could not build the scene: ${JSON.stringify(answer)}`);
  return answer.body;
}

export async function addItem(app: TestApp, workspaceId: number, by: User, filename: string): Promise<number> {
  const bytes = Uint8Array.from(makePdf({ text: filename }));
  return succeed(await upload(app, `/api/workspaces/${workspaceId}`, by.token, bytes, { filename })).item.id;
}

export async function setPoster({ http }: TestApp, path: string, { token }: User): Promise<void> {
  succeed(await http.call('PUT', `${path}/poster`, { token, ...imageContent(jpeg) }));
}

async function addLogo({ http }: TestApp, workspaceId: number, { token }: User): Promise<string> {
  const path = `/api/workspaces/${workspaceId}/branding/logo`;
  const { branding } = succeed(await http.call('PUT', path, { token, ...imageContent(jpeg) }));
  return branding.logo_url.split('/').at(-1);
}

export async function addKey(
  app: TestApp,
  workspaceId: number,
  by: User,
  options: object = {},
): Promise<{ id: number; key: string }> {
  const input = { name: 'Nightly import', ...options };
  const { apiKey } = succeed(await app.http.post(`/api/workspaces/${workspaceId}/api-keys`, by.token, input));
  return { id: apiKey.id, key: apiKey.full_key };
}

/** A webhook with a message that was delivered and, after it, one that was cancelled. */
export async function addWebhook(app: TestApp, workspaceId: number, by: User) {
  const input = { name: 'Chat', url: 'https://example.com/hook', events: ['room.left', 'member.left'] };
  const { webhook } = succeed(await app.http.post(`/api/workspaces/${workspaceId}/webhooks`, by.token, input));
  const webhookId: number = webhook.id;
  const messageId = messageIdOf(webhookId, 1);
  const message = { workspaceId, webhookId };
  await addMessage(app, { ...message, id: messageId, status: 'delivered', attempts: 1 });
  await addMessage(app, { ...message, id: messageIdOf(webhookId, 2), status: 'cancelled', attempts: 0 });
  const delivery = await app.services.db.webhookDelivery.create({
    data: {
      workspaceId,
      webhookId,
      messageId,
      attempt: 1,
      responseStatus: 200,
      responseBody: 'ok',
      success: true,
      durationMs: 120,
      createdAt: app.clock.now(),
    },
  });
  return { webhookId, messageId, deliveryId: Number(delivery.id) };
}

/** The id of a message of the scene: the same in equal worlds, and ascending. */
function messageIdOf(webhookId: number, number: number): string {
  return `msg_${String(webhookId).padStart(16, '0')}${String(number).padStart(16, '0')}`;
}

/** A message to a webhook, as `room.left` creates it. */
async function addMessage(
  { services: { db }, clock }: TestApp,
  message: { workspaceId: number; webhookId: number; id: string; status: string; attempts: number },
): Promise<void> {
  const at = clock.now();
  const more = { event: 'room.left', payload: '{"event":"room.left"}', roundAttempts: message.attempts };
  await db.webhookMessage.create({ data: { ...message, ...more, createdAt: at, updatedAt: at } });
}

async function addInvitation({ services: { db }, clock }: TestApp, workspaceId: number, by: User) {
  const token = createToken('lnm_');
  const createdAt = clock.now();
  const { id } = await db.invitation.create({
    data: {
      workspaceId,
      email: 'ivy@example.com',
      role: 'admin',
      tokenHash: hashToken(token),
      invitedBy: by.id,
      createdAt,
      sentAt: createdAt,
      expiresAt: new Date(createdAt.getTime() + DAY_MS),
    },
  });
  return { id, token };
}

/** An item that was moved to the trash. Its own ID is above those that the scenes give. */
async function addTrashEntry({ services: { db }, clock }: TestApp, workspaceId: number, by: User): Promise<number> {
  const at = clock.now();
  const name = 'old contract.pdf';
  const resourceId = 1_000_000_000 + workspaceId;
  const fields = { id: resourceId, name, description: '', mime_type: 'application/pdf', size: 7, sha256: '\\x00' };
  const { id } = await db.trashEntry.create({
    data: {
      workspaceId,
      kind: 'library_item',
      resourceId,
      name,
      size: 7,
      fileKey: `v1/workspaces/${workspaceId}/library/trashed`,
      createdBy: by.id,
      createdAt: at,
      trashedBy: by.id,
      trashedAt: at,
      record: { ...fields, created_at: at.toISOString(), updated_at: at.toISOString(), label_ids: [] },
    },
  });
  return id;
}

async function addRoom(app: TestApp, workspaceId: number, by: User, name: string): Promise<number> {
  return succeed(await app.http.post('/api/dashboard/rooms', by.token, { name, workspace_id: workspaceId })).room.id;
}

/** Its ID is above those that the scenes give. */
async function addQuietRoom(app: TestApp, workspaceId: number, by: User, name: string): Promise<string> {
  const { db, clock } = app.services;
  const createdAt = new Date(clock.now().getTime() - DAY_MS);
  const data = { workspaceId, id: workspaceId + 1_000_000, name, userId: by.id, accentColor: '#06b6d4' };
  await db.room.create({ data: { ...data, createdAt, lastUsedAt: createdAt } });
  return name;
}

async function addStoppedRecording(app: TestApp, by: User, roomName: string, archive_id: string) {
  const path = `/api/dashboard/rooms/${roomName}/recordings`;
  const { recording, upload_token } = succeed(await app.http.post(path, by.token, { archive_id }));
  succeed(await app.http.post(`${path}/${recording.id}/stop`, by.token));
  return { recordingId: recording.id, uploadToken: upload_token };
}

async function addRecording(app: TestApp, workspaceId: number, roomId: number): Promise<number> {
  const recording = { workspaceId, roomId, archiveId: 'archive' };
  const id = await start(app, { ...recording, title: 'Weekly' });
  const fileKey = await storeFile(app, workspaceId, 'a recording');
  await advance(app, recording, { status: 'available', fileKey, duration: 90, size: 11 });
  return id;
}

const dayAndNight = weekdays.map((day) => ({ day, from: '00:00', to: '24:00' }));

/** A contact who joined the room and booked a meeting in it, on a page that is open day and night. */
async function addVisit(
  app: TestApp,
  { workspaceId, userId, roomId, slug }: { workspaceId: number; userId: number; roomId: number; slug: string },
) {
  const { services, clock } = app;
  const at = clock.now();
  const page = {
    ...bookingPageData({ workspaceId, userId, title: 'Intro call', slug, createdAt: at }),
    hours: dayAndNight,
  };
  const { id: pageId } = await services.db.bookingPage.create({ data: page });
  const quiet = await services.db.bookingPage.create({ data: { ...page, title: 'Quiet', slug: `quiet-${slug}` } });
  return transact(services.db, async (tx) => {
    const vera = { name: 'Vera', email: 'vera@example.com' };
    const contactId = await findOrCreateContact(sqlIn(tx), defaultQuotas, { workspaceId, ...vera, at });
    if (contactId === null) throw new Error('A contact without an address');
    const event = { workspaceId, contactId, roomId: null, bookingPageId: null, at };
    await recordContactEvent(sqlIn(tx), { ...event, type: 'room_join', roomId });
    const startsAt = dayAfterTomorrow(app, 10);
    const endsAt = new Date(startsAt.getTime() + page.duration * MINUTE_MS);
    const cancelToken = createToken('lnb_');
    const tokenHash = hashToken(cancelToken);
    const meeting = {
      workspaceId,
      bookingPageId: pageId,
      userId,
      contactId,
      roomId,
      ...vera,
      mailbox: vera.email,
      tokenHash,
      createdAt: at,
    };
    const { id: bookingId } = await tx.booking.create({ data: { ...meeting, startsAt, endsAt } });
    await recordContactEvent(sqlIn(tx), { ...event, type: 'booking', bookingPageId: pageId });
    const unconfirmed = await addUnconfirmed(tx, services.sealer, {
      ...meeting,
      contactId: null,
      roomId: null,
      email: 'walt@example.com',
      mailbox: 'walt@example.com',
      startsAt: dayAfterTomorrow(app, 14),
      endsAt: dayAfterTomorrow(app, 15),
      tokenHash: new Uint8Array(),
    });
    const feedToken = createToken('lnc_');
    const feed = { tokenHash: hashToken(feedToken), createdAt: at };
    await tx.calendarFeed.upsert({ where: { userId }, create: { userId, ...feed }, update: feed });
    return { contactId, pageId, quietPageId: quiet.id, bookingId, cancelToken, ...unconfirmed, feedToken };
  });
}

/** A meeting that its guest can confirm for a day. Returns its id and the token that confirms it. */
async function addUnconfirmed(
  tx: Tx,
  sealer: Sealer,
  meeting: Prisma.BookingCreateManyInput & { createdAt: Date },
): Promise<{ unconfirmedId: number; confirmToken: string }> {
  const [token, confirmToken] = [createToken('lnb_'), createToken('lnm_')];
  const tokenHash = hashToken(token);
  const { id: unconfirmedId } = await tx.booking.create({
    data: {
      ...meeting,
      tokenHash,
      sealedToken: new Uint8Array(sealer.seal(token, bookingTokenSeal(tokenHash))),
      confirmHash: hashToken(confirmToken),
      confirmBy: new Date(meeting.createdAt.getTime() + DAY_MS),
    },
  });
  return { unconfirmedId, confirmToken };
}

/** An hour of the day after tomorrow, in UTC. */
export function dayAfterTomorrow({ clock }: TestApp, hour: number): Date {
  const day = new Date(clock.now().getTime() + 2 * DAY_MS);
  day.setUTCHours(hour, 0, 0, 0);
  return day;
}

/** The pages of the two participants in the room. */
export const PAGE = 'page-of-gina';
export const PEER_PAGE = 'page-of-paul';

/**
 * Two guests who are in the room, with pages, and one who waits. All were last seen a minute ago. The first started the
 * recording.
 */
async function addParticipants(
  { services: { db }, clock }: TestApp,
  { workspaceId, roomId, recordingId }: { workspaceId: number; roomId: number; recordingId: number },
) {
  const at = new Date(clock.now().getTime() - MINUTE_MS);
  const participantToken = createToken('lnp_');
  const guest = { workspaceId, roomId, createdAt: at, lastSeenAt: at };
  const tokenHash = hashToken(participantToken);
  const gina = await db.participant.create({
    data: { ...guest, name: 'Gina', status: 'joined', joinedAt: at, tokenHash },
  });
  // A participant sees only the recordings that they started.
  await db.recording.updateMany({ where: { workspaceId, id: recordingId }, data: { startedBy: gina.id } });
  const waiting = await db.participant.create({
    data: {
      ...guest,
      name: 'Will',
      email: 'will@example.com',
      status: 'waiting',
      tokenHash: hashToken(createToken('lnp_')),
    },
  });
  const paul = await db.participant.create({ data: { ...guest, name: 'Paul', status: 'joined', joinedAt: at } });
  const page = { workspaceId, roomId, openedAt: at, seatedAt: at, expiresAt: new Date(at.getTime() + DAY_MS) };
  await db.meetingPage.createMany({
    data: [
      { ...page, participantId: gina.id, connectionId: PAGE },
      { ...page, participantId: paul.id, connectionId: PEER_PAGE },
    ],
  });
  const linkToken = createToken('lnj_');
  const link = { linkHash: hashToken(linkToken), createdAt: at, expiresAt: new Date(at.getTime() + DAY_MS) };
  const pass = await db.roomPass.create({ data: { workspaceId, roomId, name: 'Peggy', externalId: 'scene', ...link } });
  const passId = pass.id;
  return { participantId: waiting.id, meetingId: gina.id, participantToken, peerId: paul.id, linkToken, passId };
}

type Connection = { id: number; ingest_url: string; secret: string | null };

async function addConnection(app: TestApp, workspaceId: number, by: User, input: object): Promise<Connection> {
  const path = `/api/workspaces/${workspaceId}/connections`;
  return succeed(await app.http.post(path, by.token, { name: 'Video', ...input })).connection;
}

async function addEmbedToken(app: TestApp, workspaceId: number, by: User): Promise<number> {
  const json = { kind: 'library', access: 'read' };
  return succeed(await app.http.post(`/api/workspaces/${workspaceId}/embed-tokens`, by.token, json)).embed_token.id;
}
