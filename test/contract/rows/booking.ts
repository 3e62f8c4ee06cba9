import { toUnixSeconds } from '../../../src/core/time.ts';
import { type Refusal, type Row, wrongNames, wrongPages } from '../row.ts';
import { dayAfterTomorrow, type Scene } from '../scene.ts';
import type { Input } from '../transports.ts';

function id({ workspaceId }: Scene): Input {
  return { id: workspaceId };
}
function page(scene: Scene): Input {
  return { ...id(scene), pageId: scene.pageId };
}
function slug({ roomName }: Scene): Input {
  return { slug: roomName };
}
function startsAt({ app }: Scene, hour: number): number {
  return toUnixSeconds(dayAfterTomorrow(app, hour));
}

const children = { pageId: 'Booking page not found' };
const SLUG = 'slug must have 2 to 64 characters: a-z, 0-9 and single hyphens between them';
const LAST_SECOND = 253_402_300_799;

const wrongSettings: readonly Refusal[] = [
  ...['', '  ', null].map((title) => ({ input: { title }, message: 'Title is required', path: 'title' })),
  { input: { title: 5 }, message: 'title must be a string', path: 'title' },
  { input: { title: 'x'.repeat(101) }, message: 'title must have at most 100 characters', path: 'title' },
  ...['', 'a', 'A-b', 'a--b', '-a', 'a b', 'a'.repeat(65), null, 5].map((text) => ({
    input: { slug: text },
    message: SLUG,
    path: 'slug',
  })),
  ...[4, 481, 7.5, '30', null].map((minutes) => ({
    input: { duration_minutes: minutes },
    message: 'duration_minutes must be an integer between 5 and 480',
    path: 'duration_minutes',
  })),
  ...['Mars/Olympus', '+01:00', 'Europe/Berlin\u0000', ''].map((zone) => ({
    input: { time_zone: zone },
    message: 'time_zone must be an IANA time zone such as Europe/Berlin',
    path: 'time_zone',
  })),
  { input: { hours: 'always' }, message: 'hours must be an array', path: 'hours' },
  {
    input: { hours: [{ day: 'monday', from: '10:00', to: '09:00' }] },
    message: 'hours.0.from must be before hours.0.to',
    path: 'hours.0.from',
  },
  {
    input: {
      hours: [
        { day: 'monday', from: '09:00', to: '12:00' },
        { day: 'monday', from: '11:00', to: '13:00' },
      ],
    },
    message: 'hours must not overlap: monday 09:00-12:00 and monday 11:00-13:00',
    path: 'hours',
  },
];

function wrongInstants(field: string): readonly Refusal[] {
  return [-1, 1.5, LAST_SECOND + 1, 'soon'].map((value) => ({
    input: { [field]: value },
    message: `${field} must be an integer between 0 and ${LAST_SECOND}`,
    path: field,
  }));
}

export const bookingRows: Record<string, Row> = {
  'bookingPages.list': { who: 'member', keys: true, input: id, writes: false },
  'bookingPages.create': {
    who: 'admin',
    keys: true,
    input: (scene) => ({
      ...id(scene),
      title: ' Crème brûlée ',
      duration_minutes: 45,
      time_zone: 'Europe/Berlin',
      hours: [{ day: 'friday', from: '09:00', to: '24:00' }],
    }),
    writes: true,
    wrong: [
      ...wrongSettings,
      { input: { title: undefined }, message: 'Title is required', path: 'title' },
      { input: { time_zone: undefined }, message: 'time_zone is required', path: 'time_zone' },
      { input: { hours: undefined }, message: 'hours is required', path: 'hours' },
    ],
    conflict: {
      input: (scene) => ({ ...id(scene), ...slug(scene), title: 'Another', time_zone: 'UTC', hours: [] }),
      message: 'Slug is already taken',
    },
  },
  'bookingPages.update': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...page(scene), title: 'Renamed', slug: `renamed-${scene.number}`, hours: [] }),
    writes: true,
    children,
    wrong: wrongSettings,
    conflict: {
      input: (scene) => ({ ...page(scene), slug: scene.foreign.roomName }),
      message: 'Slug is already taken',
    },
  },
  'bookingPages.delete': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...id(scene), pageId: scene.quietPageId }),
    writes: true,
    children,
    conflict: { input: page, message: 'The page has upcoming bookings: cancel them first' },
  },
  'bookings.times': {
    who: 'anyone',
    keys: true,
    input: (scene) => ({ ...slug(scene), from: startsAt(scene, 8), to: startsAt(scene, 12) }),
    writes: false,
    wrong: [
      ...wrongInstants('from'),
      ...wrongInstants('to'),
      { input: { to: 1_000 }, message: '`to` must be after `from`, by at most 62 days', path: 'to' },
      { input: { to: LAST_SECOND }, message: '`to` must be after `from`, by at most 62 days', path: 'to' },
    ],
  },
  'bookings.book': {
    who: 'anyone',
    keys: true,
    input: (scene) => ({
      ...slug(scene),
      name: ' Walt ',
      email: 'Walt@Example.com',
      starts_at: startsAt(scene, 11),
    }),
    writes: true,
    random: ['room_name', 'cancel_url', 'cancel_token'],
    wrong: [
      ...wrongNames,
      ...wrongInstants('starts_at'),
      {
        input: { starts_at: undefined },
        message: 'starts_at is required',
        path: 'starts_at',
      },
      { input: { email: 'nobody' }, message: 'email must be a valid email address', path: 'email' },
      { input: { email: undefined }, message: 'email is required', path: 'email' },
    ],
    conflict: {
      input: (scene) => ({ ...slug(scene), name: 'Walt', email: 'walt@example.com', starts_at: startsAt(scene, 10) }),
      message: 'This time is not available',
    },
  },
  'bookings.cancel': {
    who: 'anyone',
    keys: true,
    input: (scene) => ({ ...slug(scene), token: scene.cancelToken }),
    writes: true,
    children: { token: 'Booking not found' },
    wrong: [
      { input: { token: undefined }, message: 'token is required', path: 'token' },
      { input: { token: 5 }, message: 'token must be a string', path: 'token' },
    ],
  },
  'bookings.list': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...id(scene), from: startsAt(scene, 0), to: startsAt(scene, 23), limit: 10, offset: 0 }),
    writes: false,
    wrong: [
      ...wrongPages,
      ...wrongInstants('from'),
      ...wrongInstants('to'),
      { input: { to: 0 }, message: '`to` must be after `from` (default: now)', path: 'to' },
    ],
  },
  'bookings.cancelByTeam': {
    // And who is booked, which is the owner in the scene.
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...id(scene), bookingId: scene.bookingId }),
    writes: true,
    children: { bookingId: 'Booking not found' },
  },
};
