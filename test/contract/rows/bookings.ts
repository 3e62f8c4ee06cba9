import { toUnixSeconds } from '../../../src/core/time.ts';
import { inWorkspace, type Refusal, type Rows, wrongNames, wrongPages } from '../row.ts';
import { dayAfterTomorrow, type Scene } from '../scene.ts';
import type { Input } from '../transports.ts';

const LAST_SECOND = 253_402_300_799;

const wrongTokens: readonly Refusal[] = [
  { input: { token: undefined }, message: 'token is required', path: 'token' },
  { input: { token: 5 }, message: 'token must be a string', path: 'token' },
];

const wrongTimeZones: readonly Refusal[] = ['Moon/Base', '+25:00', ''].map((time_zone) => ({
  input: { time_zone },
  message: 'time_zone must be an IANA time zone such as Europe/Berlin, or an offset such as +05:30',
  path: 'time_zone',
}));

export const bookingRows: Rows = {
  'bookings.times': {
    who: 'anyone',
    keys: true,
    input: (scene) => ({ ...slug(scene), from: startsAt(scene, 8), to: startsAt(scene, 12) }),
    random: ['logo_url'],
    writes: false,
    wrong: [
      ...wrongInstants('from'),
      ...wrongInstants('to'),
      { input: { to: 1_000 }, message: '`to` must be after `from` and at most 62 days later', path: 'to' },
      { input: { to: LAST_SECOND }, message: '`to` must be after `from` and at most 62 days later', path: 'to' },
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
      time_zone: 'Europe/Paris',
    }),
    writes: true,
    random: ['uid', 'room_name', 'manage_url', 'cancel_url', 'cancel_token'],
    wrong: [
      ...wrongNames,
      ...wrongTimeZones,
      ...wrongInstants('starts_at'),
      {
        input: { starts_at: undefined },
        message: 'starts_at is required',
        path: 'starts_at',
      },
      { input: { language: 'it' }, message: 'language must be one of en, de, fr, es, ar', path: 'language' },
      { input: { email: 'nobody' }, message: 'email must be a valid email address', path: 'email' },
      { input: { email: undefined }, message: 'email is required', path: 'email' },
    ],
    conflict: {
      input: (scene) => ({ ...slug(scene), name: 'Walt', email: 'walt@example.com', starts_at: startsAt(scene, 10) }),
      message: 'This time is not available',
    },
  },
  'bookings.confirm': {
    who: 'anyone',
    keys: true,
    input: (scene) => ({ ...slug(scene), token: scene.confirmToken }),
    writes: true,
    random: ['uid', 'room_name', 'manage_url', 'cancel_url'],
    children: { token: 'Booking not found' },
    wrong: wrongTokens,
  },
  'bookings.lookUp': {
    who: 'anyone',
    keys: true,
    input: (scene) => ({ ...slug(scene), token: scene.cancelToken }),
    writes: false,
    random: ['uid', 'manage_url', 'cancel_url'],
    children: { token: 'Booking not found' },
    wrong: wrongTokens,
  },
  'bookings.timesToMove': {
    who: 'anyone',
    keys: true,
    input: (scene) => ({
      ...slug(scene),
      token: scene.cancelToken,
      from: startsAt(scene, 8),
      to: startsAt(scene, 12),
    }),
    random: ['logo_url'],
    writes: false,
    children: { token: 'Booking not found' },
    wrong: [
      ...wrongTokens,
      ...wrongInstants('from'),
      ...wrongInstants('to'),
      { input: { to: 1_000 }, message: '`to` must be after `from` and at most 62 days later', path: 'to' },
    ],
  },
  'bookings.reschedule': {
    who: 'anyone',
    keys: true,
    input: (scene) => ({ ...slug(scene), token: scene.cancelToken, starts_at: startsAt(scene, 11) }),
    writes: true,
    random: ['uid', 'manage_url', 'cancel_url'],
    children: { token: 'Booking not found' },
    wrong: [
      ...wrongTokens,
      ...wrongInstants('starts_at'),
      { input: { starts_at: undefined }, message: 'starts_at is required', path: 'starts_at' },
    ],
    conflict: {
      input: (scene) => ({ ...slug(scene), token: scene.cancelToken, starts_at: startsAt(scene, 11) + 60 }),
      message: 'This time is not available',
    },
  },
  'bookings.cancel': {
    who: 'anyone',
    keys: true,
    input: (scene) => ({ ...slug(scene), token: scene.cancelToken }),
    writes: true,
    children: { token: 'Booking not found' },
    wrong: wrongTokens,
  },
  'bookings.list': {
    who: 'member',
    keys: true,
    input: (scene) => ({
      ...inWorkspace(scene),
      from: startsAt(scene, 0),
      to: startsAt(scene, 23),
      limit: 10,
      offset: 0,
    }),
    writes: false,
    wrong: [
      ...wrongPages,
      ...wrongInstants('from'),
      ...wrongInstants('to'),
      { input: { to: 0 }, message: '`to` must be after `from` (default: now)', path: 'to' },
      { input: { host_id: 'me' }, message: 'host_id must be a positive 32-bit integer', path: 'host_id' },
      {
        input: { status: 'done' },
        message: 'status must be one of confirmed, unconfirmed, cancelled',
        path: 'status',
      },
    ],
  },
  'bookings.approve': {
    // And the host, who is the owner in the scene.
    who: 'admin',
    keys: true,
    scope: 'write',
    input: (scene) => ({ ...inWorkspace(scene), bookingId: scene.unconfirmedId }),
    writes: true,
    random: ['room_name'],
    children: { bookingId: 'Booking not found' },
  },
  'bookings.cancelByTeam': {
    // And the host, who is the owner in the scene.
    who: 'admin',
    keys: true,
    scope: 'write',
    input: (scene) => ({ ...inWorkspace(scene), bookingId: scene.bookingId }),
    writes: true,
    children: { bookingId: 'Booking not found' },
  },
  'bookings.rescheduleByTeam': {
    // And the host, who is the owner in the scene.
    who: 'admin',
    checksHostLast: true,
    keys: true,
    scope: 'write',
    input: (scene) => ({ ...inWorkspace(scene), bookingId: scene.bookingId, starts_at: startsAt(scene, 11) }),
    writes: true,
    children: { bookingId: 'Booking not found' },
    wrong: [
      ...wrongInstants('starts_at'),
      { input: { starts_at: undefined }, message: 'starts_at is required', path: 'starts_at' },
      { input: { starts_at: 0 }, message: 'starts_at must be within the next 365 days', path: 'starts_at' },
    ],
  },
};

function slug({ roomName }: Scene): Input {
  return { slug: roomName };
}

function startsAt({ app }: Scene, hour: number): number {
  return toUnixSeconds(dayAfterTomorrow(app, hour));
}

function wrongInstants(field: string): readonly Refusal[] {
  return [-1, 1.5, LAST_SECOND + 1, 'soon'].map((value) => ({
    input: { [field]: value },
    message: `${field} must be an integer between 0 and ${LAST_SECOND}`,
    path: field,
  }));
}
