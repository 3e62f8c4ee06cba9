/**
 * A month in the life of a small workspace, lived through the public operations by a clock that the caller moves: rooms,
 * meetings with guests, recordings, bookings, files and labels. The same seed lives the same month.
 */
import { readFileSync } from 'node:fs';
import { createClient } from '../../src/client.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import { loopMp4 } from './loop-mp4.ts';
import { createRandom, type Random } from './random.ts';

export type MonthOptions = {
  url: string;
  /** A session of who owns the workspace. */
  token: string;
  workspaceId: number;
  /** The first day lived, at midnight in UTC. */
  from: Date;
  days: number;
  seed?: number;
  /** Moves the service's clock, which only ever goes forward. */
  moveTo(at: Date): void;
};

/** What was done, to count it by. */
export type Diary = {
  rooms: { id: number; name: string; displayName: string }[];
  pages: { id: number; title: string; slug: string }[];
  /** Who entered which room when; `email` null: a guest without an address. */
  joins: { at: Date; roomId: number; email: string | null }[];
  bookings: { at: Date; pageId: number; email: string; isCancelled: boolean }[];
  /** Seconds. */
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

const roomsOfTheTeam = [
  { displayName: 'Stand-up', hour: 9, minutes: 15, chance: 0.95, min: 2, max: 4, color: '#6366f1', waits: false },
  {
    displayName: 'Design review',
    hour: 11,
    minutes: 45,
    chance: 0.5,
    min: 2,
    max: 5,
    color: '#f59e0b',
    waits: false,
  },
  {
    displayName: 'Customer calls',
    hour: 14,
    minutes: 30,
    chance: 0.7,
    min: 1,
    max: 2,
    color: '#10b981',
    waits: true,
  },
  { displayName: 'Fireside', hour: 16, minutes: 60, chance: 0.2, min: 4, max: 6, color: '#ef4444', waits: false },
] as const;

const pagesOfTheTeam = [
  { title: 'Intro call', duration_minutes: 30, chance: 0.6 },
  { title: 'Portfolio review', duration_minutes: 60, chance: 0.3 },
] as const;

const workdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] as const;
const documents = ['Proposal', 'Invoice', 'Brief', 'Contract', 'Minutes'] as const;

function isWorkday(day: Date): boolean {
  return day.getUTCDay() >= 1 && day.getUTCDay() <= 5;
}

type Client = ReturnType<typeof createClient>;
type Month = MonthOptions & { client: Client; guest: Client; random: Random; diary: Diary; labelIds: number[] };
type TeamRoom = (typeof roomsOfTheTeam)[number] & Diary['rooms'][number];

function makeVideo(seconds: number): Blob {
  const bytes = new Uint8Array(loopMp4(readFileSync(SAMPLE), Math.max(1, Math.round(seconds / SAMPLE_SECONDS))));
  return new Blob([bytes], { type: 'video/mp4' });
}

/** People come, some of them wait to be let in, one meeting in three is recorded, and everybody leaves. */
async function meet(month: Month, room: TeamRoom, at: Date): Promise<void> {
  const { client, guest, random, diary, moveTo } = month;
  const { name: roomName } = room;
  const present: string[] = [];
  for (const [index, [name, email]] of random.some(guests, random.between(room.min, room.max)).entries()) {
    const enteredAt = new Date(at.getTime() + index * MINUTE_MS);
    moveTo(enteredAt);
    const { participant } = await guest.participants.join.mutate({ roomName, name, ...(email !== null && { email }) });
    if (participant.status === 'waiting')
      await client.participants.admit.mutate({ name: roomName, participantId: participant.id });
    present.push(participant.token);
    diary.joins.push({ at: enteredAt, roomId: room.id, email });
  }
  const endsAt = new Date(at.getTime() + room.minutes * MINUTE_MS);
  if (random.chance(1 / 3)) {
    const title = `${room.displayName}, ${at.toISOString().slice(0, 10)}`;
    const { recording, upload_token } = await client.recordings.start.mutate({ name: roomName, title });
    moveTo(endsAt);
    await client.recordings.stop.mutate({ name: roomName, recordingId: recording.id });
    const duration = Math.round((room.minutes * 60) / SAMPLE_SECONDS) * SAMPLE_SECONDS;
    await guest.uploadRecording({ recordingId: recording.id, uploadToken: upload_token, file: makeVideo(duration) });
    diary.recordings.push({ duration });
  }
  moveTo(endsAt);
  for (const token of present) await guest.participants.leave.mutate({ roomName, token });
}

async function book(month: Month, page: Diary['pages'][number], at: Date): Promise<void> {
  const { guest, random, diary, moveTo } = month;
  moveTo(at);
  const { times } = await guest.bookings.times.query({ slug: page.slug });
  const startsAt = times.at(random.between(0, Math.min(times.length, 20) - 1));
  if (startsAt === undefined) return;
  const [name, email] = random.one(guests.filter(([, address]) => address !== null));
  if (email === null) return;
  const { booking } = await guest.bookings.book.mutate({ slug: page.slug, name, email, starts_at: startsAt });
  const isCancelled = random.chance(0.1);
  if (isCancelled) await guest.bookings.cancel.mutate({ slug: page.slug, token: booking.cancel_token });
  diary.bookings.push({ at, pageId: page.id, email, isCancelled });
}

async function file({ client, random, diary, labelIds, moveTo, workspaceId: id }: Month, at: Date): Promise<void> {
  moveTo(at);
  const name = `${random.one(documents)} ${diary.items + 1}.pdf`;
  const item = await client.upload({ id, file: new File([readFileSync(DOCUMENT)], name, { type: 'application/pdf' }) });
  await client.library.assignLabel.mutate({ id, itemId: item.id, labelId: random.one(labelIds) });
  diary.items += 1;
}

async function furnish(month: Month): Promise<{ rooms: TeamRoom[]; pages: Diary['pages'] }> {
  const { client, diary, labelIds, workspaceId: id } = month;
  for (const [name, color] of [
    ['Contracts', '#0ea5e9'],
    ['Design', '#f59e0b'],
    ['Internal', '#64748b'],
  ] as const) {
    labelIds.push((await client.labels.create.mutate({ id, name, color })).label.id);
  }
  const rooms: TeamRoom[] = [];
  for (const room of roomsOfTheTeam) {
    const created = await client.rooms.create.mutate({
      workspace_id: id,
      display_name: room.displayName,
      accent_color: room.color,
      waiting_room_enabled: room.waits,
      ...(room.waits && { waiting_room_message: 'We will be with you in a moment.' }),
    });
    rooms.push({ ...room, id: created.room.id, name: created.room.name });
  }
  diary.rooms.push(...rooms.map(({ id: roomId, name, displayName }) => ({ id: roomId, name, displayName })));
  for (const { title, duration_minutes } of pagesOfTheTeam) {
    const hours = workdays.map((day) => ({ day, from: '09:00', to: '17:00' }));
    const input = { id, title, duration_minutes, time_zone: 'Europe/Berlin', hours };
    const { bookingPage } = await client.bookingPages.create.mutate(input);
    diary.pages.push({ id: bookingPage.id, title, slug: bookingPage.slug });
  }
  return { rooms, pages: diary.pages };
}

async function liveADay(month: Month, day: Date, rooms: readonly TeamRoom[]): Promise<void> {
  const { random, diary } = month;
  if (!isWorkday(day)) return;
  const at = (hour: number, minute = 0): Date => new Date(day.getTime() + hour * HOUR_MS + minute * MINUTE_MS);
  for (const [index, page] of diary.pages.entries()) {
    if (random.chance(pagesOfTheTeam[index]?.chance ?? 0)) await book(month, page, at(8, index * 10));
  }
  for (const room of rooms) {
    if (random.chance(room.chance)) await meet(month, room, at(room.hour));
  }
  if (random.chance(0.5)) await file(month, at(18));
}

/** Lives the month. The workspace is the caller's, and empty. */
export async function liveAMonth(options: MonthOptions): Promise<Diary> {
  const { url, token, from, days, seed = 1, moveTo } = options;
  const diary: Diary = { rooms: [], pages: [], joins: [], bookings: [], recordings: [], items: 0 };
  const client = createClient({ url, token });
  const guest = createClient({ url });
  const month: Month = { ...options, client, guest, random: createRandom(seed), diary, labelIds: [] };
  moveTo(new Date(from.getTime() + 7 * HOUR_MS));
  const { rooms } = await furnish(month);
  for (let index = 0; index < days; index += 1) {
    await liveADay(month, new Date(from.getTime() + index * DAY_MS), rooms);
  }
  return diary;
}
