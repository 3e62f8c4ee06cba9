/**
 * Equal worlds: two applications on which the same calls are made one after another have the same rows under the same
 * ids. So what one transport answers and leaves behind can be compared with the other transport, field by field.
 */

import { createToken, hashToken } from '../../src/auth/tokens.ts';
import { DAY_MS, MINUTE_MS } from '../../src/core/time.ts';
import { transact } from '../../src/db/client.ts';
import { weekdays } from '../../src/features/booking-pages/opening-hours.ts';
import { findOrCreateContact } from '../../src/features/contacts/find-or-create-contact.ts';
import { recordContactEvent } from '../../src/features/contacts/record-contact-event.ts';
import { advance, start, storeFile } from '../recordings/recording-fixtures.ts';
import { bookingPageData } from '../support/booking-page.ts';
import { makePdf } from '../support/media.ts';
import type { TestApp } from '../support/test-app.ts';
import { PASSWORD, upload } from '../support/world.ts';
import type { Input } from './transports.ts';

export type Someone = { id: number; name: string; email: string; token: string };

/** What a workspace has, one of each kind. */
export type Children = {
  labelId: number;
  itemId: number;
  roomName: string;
  recordingId: number;
  keyId: number;
  webhookId: number;
  deliveryId: number;
  messageId: string;
  connectionId: number;
  /** Who waits before the room. */
  participantId: number;
  /** The token of who is in it. */
  participantToken: string;
  contactId: number;
  /** Of a booking page, whose slug is the room's name. */
  pageId: number;
  /** Of one on which nothing is booked. */
  quietPageId: number;
  bookingId: number;
};

/**
 * A workspace with one person of each role, two labels and an item that carries the first; a room of the owner with a
 * recording that is available, a guest in it and one who waits, a join and a booking, a key of the owner, a webhook
 * with a message that was delivered and one that was cancelled, and a webhook that is inactive.
 */
export type Scene = {
  app: TestApp;
  /** Tells the scenes of one world apart. */
  number: number;
  workspaceId: number;
  owner: Someone;
  admin: Someone;
  member: Someone;
  outsider: Someone;
  redId: number;
  blueId: number;
  itemId: number;
  roomName: string;
  recordingId: number;
  keyId: number;
  /** The key itself. */
  key: string;
  webhookId: number;
  /** Of the attempt to deliver the first message. */
  deliveryId: number;
  messageId: string;
  /** Of a LiveKit account. */
  connectionId: number;
  /** Who waits before the room. */
  participantId: number;
  /** The token of who is in it. */
  participantToken: string;
  contactId: number;
  /** Of a booking page that is open day and night, whose slug is the room's name. */
  pageId: number;
  /** Of one on which nothing is booked. */
  quietPageId: number;
  /** Of the meeting of the owner that is booked for the day after tomorrow, at 10:00. */
  bookingId: number;
  /** What cancels it. */
  cancelToken: string;
  /** The webhook that is inactive. */
  idle: { webhookId: number; deliveryId: number; messageId: string };
  inviteToken: string;
  /** What another workspace has, whose owner is the outsider. */
  foreign: Children & { workspaceId: number };
};

/** What inputs call the children of the other workspace. */
export function foreignChildren({ foreign: { roomName, ...ids }, outsider }: Scene): Input {
  return {
    labelId: ids.labelId,
    itemId: ids.itemId,
    recordingId: ids.recordingId,
    keyId: ids.keyId,
    webhookId: ids.webhookId,
    deliveryId: ids.deliveryId,
    messageId: ids.messageId,
    connectionId: ids.connectionId,
    participantId: ids.participantId,
    token: ids.participantToken,
    contactId: ids.contactId,
    pageId: ids.pageId,
    bookingId: ids.bookingId,
    slug: roomName,
    roomName,
    userId: outsider.id,
    name: roomName,
  };
}

export type World = {
  app: TestApp;
  /** Another workspace with the same people. */
  addScene(): Promise<Scene>;
  addSomeone(name: string): Promise<Someone>;
};

function must<Body>(answer: { status: number; body: Body }): Body {
  if (answer.status !== 200 && answer.status !== 201)
    throw new Error(`Could not build the scene: ${JSON.stringify(answer)}`);
  return answer.body;
}

async function registerIn(app: TestApp, name: string, email: string): Promise<Someone> {
  const { user, token } = must(
    await app.http.post('/api/auth/register', undefined, { name, email, password: PASSWORD }),
  );
  return { id: user.id, name, email, token };
}

async function addWorkspace(app: TestApp, owner: Someone, name: string): Promise<number> {
  return must(await app.http.post('/api/workspaces', owner.token, { name })).workspace.id;
}

async function addLabel(app: TestApp, workspaceId: number, by: Someone, name: string): Promise<number> {
  return must(await app.http.post(`/api/workspaces/${workspaceId}/labels`, by.token, { name })).label.id;
}

async function addItem(app: TestApp, workspaceId: number, by: Someone, filename: string): Promise<number> {
  const bytes = Uint8Array.from(makePdf({ text: filename }));
  return must(await upload(app, `/api/workspaces/${workspaceId}`, by.token, bytes, { filename })).item.id;
}

async function addRoom(app: TestApp, workspaceId: number, by: Someone, name: string): Promise<number> {
  return must(await app.http.post('/api/dashboard/rooms', by.token, { name, workspace_id: workspaceId })).room.id;
}

async function addRecording(app: TestApp, workspaceId: number, roomId: number): Promise<number> {
  const recording = { workspaceId, roomId, archiveId: 'archive' };
  const id = await start(app, { ...recording, title: 'Weekly' });
  const fileKey = await storeFile(app, workspaceId, 'a recording');
  await advance(app, recording, { status: 'available', fileKey, duration: 90, size: 11 });
  return id;
}

/** An hour of the day after tomorrow, in UTC. */
export function dayAfterTomorrow({ clock }: TestApp, hour: number): Date {
  const day = new Date(clock.now().getTime() + 2 * DAY_MS);
  day.setUTCHours(hour, 0, 0, 0);
  return day;
}

const dayAndNight = weekdays.map((day) => ({ day, from: '00:00', to: '24:00' }));

/** A contact who joined the room and booked a meeting in it, by a page that is open day and night. */
async function addVisit(app: TestApp, workspaceId: number, userId: number, roomId: number, slug: string) {
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
    const contactId = await findOrCreateContact(tx, { workspaceId, ...vera, at });
    if (contactId === null) throw new Error('A contact without an address');
    const event = { workspaceId, contactId, roomId: null, bookingPageId: null, at };
    await recordContactEvent(tx, { ...event, type: 'room_join', roomId });
    const startsAt = dayAfterTomorrow(app, 10);
    const endsAt = new Date(startsAt.getTime() + page.duration * MINUTE_MS);
    const cancelToken = createToken('lnb_');
    const tokenHash = hashToken(cancelToken);
    const meeting = { workspaceId, bookingPageId: pageId, contactId, roomId, ...vera, tokenHash, createdAt: at };
    const { id: bookingId } = await tx.booking.create({ data: { ...meeting, startsAt, endsAt } });
    await recordContactEvent(tx, { ...event, type: 'booking', bookingPageId: pageId });
    return { contactId, pageId, quietPageId: quiet.id, bookingId, cancelToken };
  });
}

export async function addKey(app: TestApp, workspaceId: number, by: Someone): Promise<{ id: number; key: string }> {
  const { apiKey } = must(
    await app.http.post(`/api/workspaces/${workspaceId}/api-keys`, by.token, { name: 'Nightly import' }),
  );
  return { id: apiKey.id, key: apiKey.full_key };
}

/** A name for a message of the scene: the same in equal worlds, and in order. */
function messageIdOf(webhookId: number, number: number): string {
  return `msg_${String(webhookId).padStart(16, '0')}${String(number).padStart(16, '0')}`;
}

/** A message to a webhook, as it was made by `room.left`. */
async function addMessage(
  { services: { db }, clock }: TestApp,
  message: { workspaceId: number; webhookId: number; id: string; status: string; attempts: number },
): Promise<void> {
  const at = clock.now();
  const more = { event: 'room.left', payload: '{"event":"room.left"}', roundAttempts: message.attempts };
  await db.webhookMessage.create({ data: { ...message, ...more, createdAt: at, updatedAt: at } });
}

/** A webhook with a message that was delivered and, behind it, one that was cancelled. */
async function addWebhook(app: TestApp, workspaceId: number, by: Someone) {
  const input = { name: 'Chat', url: 'https://example.com/hook', events: ['room.left', 'member.left'] };
  const { webhook } = must(await app.http.post(`/api/workspaces/${workspaceId}/webhooks`, by.token, input));
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

/** The same, deactivated. */
async function addIdleWebhook(app: TestApp, workspaceId: number, by: Someone) {
  const idle = await addWebhook(app, workspaceId, by);
  must(await app.http.patch(`/api/workspaces/${workspaceId}/webhooks/${idle.webhookId}`, by.token, { toggle: true }));
  return idle;
}

/** A guest who is in the room and one who waits, both a minute silent. */
async function addParticipants({ services: { db }, clock }: TestApp, workspaceId: number, roomId: number) {
  const at = new Date(clock.now().getTime() - 60_000);
  const participantToken = createToken('lnp_');
  const guest = { workspaceId, roomId, createdAt: at, lastSeenAt: at };
  const tokenHash = hashToken(participantToken);
  const gina = await db.participant.create({
    data: { ...guest, name: 'Gina', status: 'joined', joinedAt: at, tokenHash },
  });
  // The recording of the room is hers: else it would not be there for her.
  await db.recording.updateMany({ where: { workspaceId, roomId }, data: { startedBy: gina.id } });
  const waiting = await db.participant.create({
    data: {
      ...guest,
      name: 'Will',
      email: 'will@example.com',
      status: 'waiting',
      tokenHash: hashToken(createToken('lnp_')),
    },
  });
  return { participantId: waiting.id, participantToken };
}

async function addConnection(app: TestApp, workspaceId: number, by: Someone): Promise<number> {
  const credentials = { api_key: 'APIscene', api_secret: 'a secret of the scene' };
  const input = { name: 'Video', provider: 'livekit', credentials };
  return must(await app.http.post(`/api/workspaces/${workspaceId}/connections`, by.token, input)).connection.id;
}

/** A room with what happened in it, a key, a connection to a meeting provider and a webhook. */
async function furnish(app: TestApp, workspaceId: number, owner: Someone, slug: string) {
  const roomId = await addRoom(app, workspaceId, owner, slug);
  const recordingId = await addRecording(app, workspaceId, roomId);
  const visit = await addVisit(app, workspaceId, owner.id, roomId, slug);
  const participants = await addParticipants(app, workspaceId, roomId);
  const { id: keyId, key } = await addKey(app, workspaceId, owner);
  const connectionId = await addConnection(app, workspaceId, owner);
  return {
    roomName: slug,
    recordingId,
    ...visit,
    ...participants,
    keyId,
    key,
    connectionId,
    ...(await addWebhook(app, workspaceId, owner)),
  };
}

/** Everything one after another: the order of the calls decides the ids. */
export async function createWorld(app: TestApp): Promise<World> {
  let registered = 0;
  const addSomeone = (name: string): Promise<Someone> => {
    registered += 1;
    return registerIn(app, name, `${name.toLowerCase()}${registered}@example.com`);
  };
  const owner = await addSomeone('Olive');
  const admin = await addSomeone('Adam');
  const member = await addSomeone('Mia');
  const outsider = await addSomeone('Otto');
  const otherId = await addWorkspace(app, outsider, 'Other');
  const foreign = {
    workspaceId: otherId,
    labelId: await addLabel(app, otherId, outsider, 'Foreign'),
    itemId: await addItem(app, otherId, outsider, 'foreign.pdf'),
    ...(await furnish(app, otherId, outsider, 'foreign')),
  };
  let scenes = 0;
  return {
    app,
    addSomeone,
    async addScene() {
      scenes += 1;
      const workspaceId = await addWorkspace(app, owner, 'Team');
      const path = `/api/workspaces/${workspaceId}`;
      const { token: inviteToken } = must(await app.http.post(`${path}/invite`, owner.token));
      for (const { token } of [admin, member]) must(await app.http.post(`/api/workspaces/join/${inviteToken}`, token));
      must(await app.http.patch(`${path}/members/${admin.id}`, owner.token, { role: 'admin' }));
      const redId = await addLabel(app, workspaceId, admin, 'Red');
      const blueId = await addLabel(app, workspaceId, owner, 'Blue');
      const itemId = await addItem(app, workspaceId, member, 'contract.pdf');
      must(await app.http.post(`${path}/library/${itemId}/labels`, member.token, { labelId: redId }));
      const furniture = await furnish(app, workspaceId, owner, `contract-${scenes}`);
      const idle = await addIdleWebhook(app, workspaceId, owner);
      const people = { owner, admin, member, outsider };
      const things = { redId, blueId, itemId, ...furniture, idle };
      return { app, number: scenes, workspaceId, ...people, ...things, inviteToken, foreign };
    },
  };
}
