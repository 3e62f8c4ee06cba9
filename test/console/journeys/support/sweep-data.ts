/** A workspace and an account with one of everything, and names that are long or in other scripts. */
import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createClient } from '../../../../packages/client/src/index.ts';
import { codeOf, fromBase32, stepAt } from '../../../../src/auth/totp.ts';
import { root } from '../../../client/packed-client.ts';
import { createAuthenticator } from '../../../support/authenticator.ts';
import { jpeg } from '../../../support/images.ts';
import { respond, startReceiver } from '../../../support/receiver.ts';
import { PASSWORD, type Person } from '../../../support/world.ts';
import { type Journey, linkTo } from './journey.ts';

/** 100 characters, which is the maximum, without a place to break. */
const LONG = 'Donaudampfschifffahrtsgesellschaft'.repeat(3).slice(0, 100);
const ARABIC = 'اجتماع التخطيط الأسبوعي';
const CHINESE = '每周产品规划与设计评审会议记录';
const NAMES = [LONG, ARABIC, CHINESE];

const WEEK = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
const DAY = 86_400;

export type SweepData = {
  id: number;
  owner: Person;
  itemId: number;
  labelId: number;
  roomName: string;
  /** A room whose meetings go from browser to browser, which everybody can enter; and one with a waiting room. */
  meetingRoomName: string;
  waitingRoomName: string;
  recordingId: number;
  contactId: number;
  pageId: number;
  /** The slug of a booking page that is open. */
  slug: string;
  /** The tokens of a meeting that takes place, and of one that is cancelled. */
  booking: { token: string; cancelToken: string; cancelledToken: string };
  webhookId: number;
  embedTokens: { library: string; webhooks: string };
  inviteToken: string;
  /** The path of the link in the mail. */
  invitationLink: string;
};

export async function createSweepData(world: Journey): Promise<SweepData> {
  const { id, owner, member } = await world.newTeam(LONG);
  const { client } = owner;
  const { token: inviteToken } = await client.workspaces.invite.mutate({ id });
  for (const name of NAMES) {
    const person = await world.newPerson(name);
    await person.client.workspaces.join.mutate({ token: inviteToken });
  }
  const emails = NAMES.map((_, index) => `invited.${index}.to.${id}@example.com`);
  for (const email of emails) await client.invitations.create.mutate({ id, email, role: 'member' });
  const webhookId = await addWebhooks(owner, id);
  const { itemId, labelId } = await addItems(owner, id);
  const { roomName, recordingId, trashedId } = await addRooms(world, owner, id);
  await client.trash.addRecordings.mutate({ id, recording_ids: [trashedId] });
  const meetingRoomName = await addMeetingRoom(owner, id, 0);
  const waitingRoomName = await addMeetingRoom(owner, id, 1);
  for (const name of NAMES) await client.apiKeys.create.mutate({ id, name });
  await client.apiKeys.create.mutate({ id, name: 'Of the workspace', belongs_to: 'workspace', scopes: ['read'] });
  for (const name of NAMES) await client.connections.create.mutate({ id, name, provider: 'generic' });
  await member.client.calendarFeed.create.mutate();
  const invitationLink = await linkTo(world.url, emails[0] ?? '', '/invitation');
  const meetings = await addMeetings(world, owner, id);
  const { contacts } = await client.contacts.list.query({ id, search: 'grace' });
  await addSignInMethods(world, owner);
  await expectDelivered(owner, id, webhookId);
  const contactId = contacts[0]?.id ?? 0;
  await client.embedTokens.create.mutate({ id, kind: 'library', label_id: labelId });
  const { token: library } = await client.embedTokens.create.mutate({ id, kind: 'library', access: 'upload' });
  const { token: webhooks } = await client.embedTokens.create.mutate({ id, kind: 'webhooks' });
  return {
    id,
    owner,
    embedTokens: { library, webhooks },
    inviteToken,
    invitationLink,
    webhookId,
    itemId,
    labelId,
    contactId,
    ...meetings,
    roomName,
    recordingId,
    meetingRoomName,
    waitingRoomName,
  };
}

/** One webhook whose receiver accepts every second request, and one that is off. Returns the first. */
async function addWebhooks({ client }: Person, id: number): Promise<number> {
  const receiver = await startReceiver((request, response, index) =>
    respond(index % 2 === 0 ? 200 : 500, JSON.stringify({ name: LONG }))(request, response, index),
  );
  receivers.push(receiver);
  const events = ['room.created', 'room.joined', 'booking.created', 'library_item.uploaded'] as const;
  const create = async (name: string) => {
    const url = `${receiver.url}/${name}`;
    return (await client.webhooks.create.mutate({ id, name, url, events: [...events] })).webhook.id;
  };
  const [first = 0, ...others] = await Promise.all([LONG, ARABIC, CHINESE].map(create));
  for (const webhookId of others) await client.webhooks.update.mutate({ id, webhookId, is_active: 0 });
  return first;
}

const receivers: { close(): Promise<void> }[] = [];

export async function closeReceivers(): Promise<void> {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
}

/** Waits until the webhook has a message that was delivered, and one that failed. */
async function expectDelivered({ client }: Person, id: number, webhookId: number): Promise<void> {
  await expect
    .poll(async () => {
      const { deliveries } = await client.webhooks.deliveries.query({ id, webhookId });
      return new Set(deliveries.map(({ success }) => Boolean(success))).size;
    })
    .toBe(2);
}

async function addItems({ client }: Person, id: number): Promise<{ itemId: number; labelId: number }> {
  const labelIds: number[] = [];
  for (const name of NAMES)
    labelIds.push((await client.labels.create.mutate({ id, name: name.slice(0, 50) })).label.id);
  const itemIds: number[] = [];
  for (const name of [...NAMES, 'Product tour']) {
    const isVideo = name === 'Product tour';
    const path = join(root, isVideo ? 'examples/sample.mp4' : 'examples/sample.pdf');
    const file = await openAsBlob(path, { type: isVideo ? 'video/mp4' : 'application/pdf' });
    const { id: itemId } = await client.upload({ id, file, filename: isVideo ? 'a.mp4' : 'a.pdf', name });
    if (isVideo) await client.setPoster({ id, itemId, image: new Blob([Uint8Array.from(jpeg)]) });
    for (const labelId of labelIds) await client.library.assignLabel.mutate({ id, itemId, labelId });
    itemIds.push(itemId);
  }
  const file = await openAsBlob(join(root, 'examples/sample.pdf'), { type: 'application/pdf' });
  const trashed = await client.upload({ id, file, filename: 'a.pdf', name: LONG });
  await client.trash.addItems.mutate({ id, item_ids: [trashed.id] });
  return { itemId: itemIds.at(-1) ?? 0, labelId: labelIds[0] ?? 0 };
}

/** A room for meetings between browsers, although the workspace has a meeting provider. */
async function addMeetingRoom({ client }: Person, workspace_id: number, waiting_room_enabled: 0 | 1): Promise<string> {
  const input = { workspace_id, display_name: LONG, waiting_room_enabled };
  const { room } = await client.rooms.create.mutate(input);
  await client.rooms.update.mutate({ name: room.name, media: 'mesh' });
  return room.name;
}

/** Rooms with guests who wait and who are in the first one, which has recordings and passes. */
async function addRooms({ url }: Journey, { client }: Person, workspace_id: number) {
  const names: string[] = [];
  for (const display_name of NAMES)
    names.push((await client.rooms.create.mutate({ workspace_id, display_name, waiting_room_enabled: 1 })).room.name);
  const [roomName = ''] = names;
  const guest = createClient({ url });
  for (const [index, name] of [...NAMES, 'Grace Hopper'].entries()) {
    const email = name === 'Grace Hopper' ? 'grace@example.com' : `guest.${index}@example.com`;
    const { participant } = await guest.participants.join.mutate({ roomName, name, email });
    if (index % 2 === 1) await client.participants.admit.mutate({ name: roomName, participantId: participant.id });
  }
  const recordingIds: number[] = [];
  for (const title of ['Moved to the trash', ...NAMES]) {
    const { recording, upload_token } = await client.recordings.start.mutate({ name: roomName, title });
    await client.recordings.stop.mutate({ name: roomName, recordingId: recording.id });
    const file = await openAsBlob(join(root, 'examples/sample.mp4'), { type: 'video/mp4' });
    await guest.uploadRecording({ recordingId: recording.id, uploadToken: upload_token, file });
    recordingIds.push(recording.id);
  }
  for (const name of NAMES)
    await client.participants.create.mutate({ id: workspace_id, roomName, name, external_id: name, is_host: 1 });
  return { roomName, recordingId: recordingIds.at(-1) ?? 0, trashedId: recordingIds[0] ?? 0 };
}

/** Booking pages, and meetings on the first one, of which the last is cancelled. */
async function addMeetings({ url }: Journey, { client }: Person, id: number) {
  const pages: { id: number; slug: string }[] = [];
  for (const [index, title] of NAMES.entries()) {
    const input = { id, title, slug: `sweep-${id}-${index}`, duration_minutes: 60, time_zone: 'Europe/Berlin' };
    const hours = WEEK.map((day) => ({ day, from: '08:00', to: '18:00' }));
    pages.push((await client.bookingPages.create.mutate({ ...input, hours })).bookingPage);
  }
  const { id: pageId = 0, slug = '' } = pages[0] ?? {};
  const guest = createClient({ url });
  const { times } = await guest.bookings.times.query({ slug });
  const later = times.filter((time) => time > Date.now() / 1000 + DAY);
  const book = async (name: string, email: string, index: number) => {
    const starts_at = later[index] ?? 0;
    return (await guest.bookings.book.mutate({ slug, name, email, starts_at, time_zone: 'Asia/Tokyo' })).booking;
  };
  const meeting = await book('Grace Hopper', 'grace@example.com', 0);
  for (const [index, name] of NAMES.entries()) await book(name, `visitor.${index}@example.com`, index + 1);
  const cancelled = await book('Alan Turing', 'alan@example.com', 5);
  await guest.bookings.cancel.mutate({ slug, token: cancelled.cancel_token });
  const tokenOf = ({ manage_url }: { manage_url: string }): string => manage_url.split('#token=')[1] ?? '';
  const booking = {
    token: tokenOf(meeting),
    cancelToken: meeting.cancel_token,
    cancelledToken: tokenOf(cancelled),
  };
  return { pageId, slug, booking };
}

/** Several sessions, a second factor, and passkeys. */
async function addSignInMethods({ url }: Journey, { client, email }: Person): Promise<void> {
  for (let count = 0; count < 2; count += 1)
    await createClient({ url }).auth.login.mutate({ email, password: PASSWORD });
  for (const name of [LONG.slice(0, 50), ARABIC]) {
    const { options } = await client.passkeys.startRegistration.mutate();
    const response = createAuthenticator(url).create(options);
    await client.passkeys.register.mutate({ name, response });
  }
  const { secret } = await client.secondFactor.setUp.mutate();
  await client.secondFactor.confirm.mutate({ code: codeOf(fromBase32(secret), stepAt(new Date())) });
}
