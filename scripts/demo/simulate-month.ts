/**
 * A month in a small workspace: rooms, meetings with guests, recordings, bookings, files and labels. Everything happens
 * through the public operations. The caller controls the clock of the service. The same seed produces the same month.
 */
import { readFileSync } from 'node:fs';
import { type Client, createClient } from '../../packages/client/src/index.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import { loopMp4 } from './loop-mp4.ts';
import { createRandom, type Random } from './seeded-random.ts';

export type MonthOptions = {
  url: string;
  /** A session token of the workspace's owner. */
  token: string;
  /** An empty workspace. */
  workspaceId: number;
  /** The first day, at midnight in UTC. */
  from: Date;
  days: number;
  seed?: number;
  /** Sets the clock of the service. No call sets an earlier time than the previous call. */
  setTime(time: Date): void;
};

/** Everything that was done, so that it can be counted. */
export type Activity = {
  rooms: { id: number; name: string; displayName: string }[];
  pages: { id: number; title: string; slug: string }[];
  /** `email` is null for guests without an email address. */
  joins: { at: Date; roomId: number; email: string | null }[];
  bookings: { at: Date; pageId: number; email: string; isCancelled: boolean }[];
  /** Durations in seconds. */
  recordings: { duration: number }[];
  items: number;
};

const SAMPLE = new URL('../../examples/sample.mp4', import.meta.url);
const SAMPLE_SECONDS = 3;
const DOCUMENT = new URL('../../examples/sample.pdf', import.meta.url);

const guests = [
  ['Amara Osei', 'amara@northwind.example'],
  ['Bruno Keller', 'bruno@northwind.example'],
  ['Chiara Conti', 'chiara@contoso.example'],
  ['Dmitri Volkov', 'dmitri@contoso.example'],
  ['Elif Demir', 'elif@fabrikam.example'],
  ['Farid Haddad', 'farid@fabrikam.example'],
  ['Grace Lin', 'grace@tailspin.example'],
  ['Hana Sato', 'hana@tailspin.example'],
  ['Ines Rocha', 'ines@litware.example'],
  ['Jonas Berg', 'jonas@litware.example'],
  ['Kofi Mensah', 'kofi@adatum.example'],
  ['Lena Wolf', 'lena@adatum.example'],
  ['Walk-in visitor', null],
] as const;

const teamRooms = [
  {
    displayName: 'Stand-up',
    hour: 9,
    minutes: 15,
    chance: 0.95,
    min: 2,
    max: 4,
    color: '#6366f1',
    hasWaitingRoom: false,
  },
  {
    displayName: 'Design review',
    hour: 11,
    minutes: 45,
    chance: 0.5,
    min: 2,
    max: 5,
    color: '#f59e0b',
    hasWaitingRoom: false,
  },
  {
    displayName: 'Customer calls',
    hour: 14,
    minutes: 30,
    chance: 0.7,
    min: 1,
    max: 2,
    color: '#10b981',
    hasWaitingRoom: true,
  },
  {
    displayName: 'Fireside',
    hour: 16,
    minutes: 60,
    chance: 0.2,
    min: 4,
    max: 6,
    color: '#ef4444',
    hasWaitingRoom: false,
  },
] as const;

const teamPages = [
  { title: 'Intro call', duration_minutes: 30, chance: 0.6 },
  { title: 'Portfolio review', duration_minutes: 60, chance: 0.3 },
] as const;

const workdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] as const;
const documents = ['Proposal', 'Invoice', 'Brief', 'Contract', 'Minutes'] as const;

type Month = MonthOptions & { client: Client; guest: Client; random: Random; activity: Activity; labelIds: number[] };
type TeamRoom = (typeof teamRooms)[number] & Activity['rooms'][number];

/** Simulates the month. */
export async function simulateMonth(options: MonthOptions): Promise<Activity> {
  const { url, token, from, days, seed = 1, setTime } = options;
  const activity: Activity = { rooms: [], pages: [], joins: [], bookings: [], recordings: [], items: 0 };
  const client = createClient({ url, token });
  const guest = createClient({ url });
  const month: Month = { ...options, client, guest, random: createRandom(seed), activity, labelIds: [] };
  setTime(new Date(from.getTime() + 7 * HOUR_MS));
  const rooms = await setUpWorkspace(month);
  for (let index = 0; index < days; index += 1) {
    await simulateDay(month, new Date(from.getTime() + index * DAY_MS), rooms);
  }
  return activity;
}

/** Creates the labels, rooms and booking pages. */
async function setUpWorkspace(month: Month): Promise<TeamRoom[]> {
  const { client, activity, labelIds, workspaceId: id } = month;
  for (const [name, color] of [
    ['Contracts', '#0ea5e9'],
    ['Design', '#f59e0b'],
    ['Internal', '#64748b'],
  ] as const) {
    labelIds.push((await client.labels.create.mutate({ id, name, color })).label.id);
  }
  const rooms: TeamRoom[] = [];
  for (const room of teamRooms) {
    const created = await client.rooms.create.mutate({
      workspace_id: id,
      display_name: room.displayName,
      accent_color: room.color,
      waiting_room_enabled: room.hasWaitingRoom,
      ...(room.hasWaitingRoom && { waiting_room_message: 'We will be with you in a moment.' }),
    });
    rooms.push({ ...room, id: created.room.id, name: created.room.name });
  }
  activity.rooms.push(...rooms.map(({ id: roomId, name, displayName }) => ({ id: roomId, name, displayName })));
  for (const { title, duration_minutes } of teamPages) {
    const hours = workdays.map((day) => ({ day, from: '09:00', to: '17:00' }));
    const input = { id, title, duration_minutes, time_zone: 'Europe/Berlin', hours };
    const { bookingPage } = await client.bookingPages.create.mutate(input);
    activity.pages.push({ id: bookingPage.id, title, slug: bookingPage.slug });
  }
  return rooms;
}

async function simulateDay(month: Month, day: Date, rooms: readonly TeamRoom[]): Promise<void> {
  const { random, activity } = month;
  if (!isWorkday(day)) return;
  const at = (hour: number, minute = 0): Date => new Date(day.getTime() + hour * HOUR_MS + minute * MINUTE_MS);
  for (const [index, page] of activity.pages.entries()) {
    if (random.chance(teamPages[index]?.chance ?? 0)) await bookMeeting(month, page, at(8, index * 10));
  }
  for (const room of rooms) {
    if (random.chance(room.chance)) await holdMeeting(month, room, at(room.hour));
  }
  if (random.chance(0.5)) await uploadDocument(month, at(18));
}

function isWorkday(day: Date): boolean {
  return day.getUTCDay() >= 1 && day.getUTCDay() <= 5;
}

async function bookMeeting(month: Month, page: Activity['pages'][number], at: Date): Promise<void> {
  const { guest, random, activity, setTime } = month;
  setTime(at);
  const { times } = await guest.bookings.times.query({ slug: page.slug });
  const startsAt = times.at(random.between(0, Math.min(times.length, 20) - 1));
  if (startsAt === undefined) return;
  const [name, email] = random.one(guests.filter(([, address]) => address !== null));
  if (email === null) return;
  const { booking } = await guest.bookings.book.mutate({ slug: page.slug, name, email, starts_at: startsAt });
  const isCancelled = random.chance(0.1);
  if (isCancelled) await guest.bookings.cancel.mutate({ slug: page.slug, token: booking.cancel_token });
  activity.bookings.push({ at, pageId: page.id, email, isCancelled });
}

/**
 * Guests join, through the waiting room if there is one. About one meeting in three is recorded. Then everybody leaves.
 */
async function holdMeeting(month: Month, room: TeamRoom, at: Date): Promise<void> {
  const { client, guest, random, activity, setTime } = month;
  const { name: roomName } = room;
  const tokens: string[] = [];
  for (const [index, [name, email]] of random.some(guests, random.between(room.min, room.max)).entries()) {
    const joinedAt = new Date(at.getTime() + index * MINUTE_MS);
    setTime(joinedAt);
    const { participant } = await guest.participants.join.mutate({ roomName, name, ...(email !== null && { email }) });
    if (participant.status === 'waiting')
      await client.participants.admit.mutate({ name: roomName, participantId: participant.id });
    tokens.push(participant.token);
    activity.joins.push({ at: joinedAt, roomId: room.id, email });
  }
  const endsAt = new Date(at.getTime() + room.minutes * MINUTE_MS);
  if (random.chance(1 / 3)) {
    const title = `${room.displayName}, ${at.toISOString().slice(0, 10)}`;
    const { recording, upload_token } = await client.recordings.start.mutate({ name: roomName, title });
    setTime(endsAt);
    await client.recordings.stop.mutate({ name: roomName, recordingId: recording.id });
    const duration = Math.round((room.minutes * 60) / SAMPLE_SECONDS) * SAMPLE_SECONDS;
    await guest.uploadRecording({ recordingId: recording.id, uploadToken: upload_token, file: makeVideo(duration) });
    activity.recordings.push({ duration });
  }
  setTime(endsAt);
  for (const token of tokens) await guest.participants.leave.mutate({ roomName, token });
}

function makeVideo(seconds: number): Blob {
  const bytes = new Uint8Array(loopMp4(readFileSync(SAMPLE), Math.max(1, Math.round(seconds / SAMPLE_SECONDS))));
  return new Blob([bytes], { type: 'video/mp4' });
}

async function uploadDocument(month: Month, at: Date): Promise<void> {
  const { client, random, activity, labelIds, setTime, workspaceId: id } = month;
  setTime(at);
  const name = `${random.one(documents)} ${activity.items + 1}.pdf`;
  const file = new File([readFileSync(DOCUMENT)], name, { type: 'application/pdf' });
  const item = await client.upload({ id, file });
  await client.library.assignLabel.mutate({ id, itemId: item.id, labelId: random.one(labelIds) });
  activity.items += 1;
}
