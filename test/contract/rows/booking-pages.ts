import { inWorkspace, type Refusal, type Rows, wrongPages } from '../row.ts';
import type { Scene } from '../scene.ts';
import type { Input } from '../transports.ts';

const children = { pageId: 'Booking page not found' };
const SLUG = 'slug must have 2 to 64 characters: a-z, 0-9 and single hyphens between them';

const wrongSettings: readonly Refusal[] = [
  ...['', '  '].map((title) => ({ input: { title }, message: 'Title is required', path: 'title' })),
  { input: { title: 5 }, message: 'title must be a string', path: 'title' },
  { input: { title: 'x'.repeat(101) }, message: 'title must have at most 100 characters', path: 'title' },
  ...['', 'a', 'A-b', 'a--b', '-a', 'a b', 'a'.repeat(65), 5].map((text) => ({
    input: { slug: text },
    message: SLUG,
    path: 'slug',
  })),
  ...[4, 481, 7.5, '30'].map((minutes) => ({
    input: { duration_minutes: minutes },
    message: 'duration_minutes must be an integer between 5 and 480',
    path: 'duration_minutes',
  })),
  ...['Mars/Olympus', '+25:00', 'Europe/Berlin\u0000', ''].map((zone) => ({
    input: { time_zone: zone },
    message: 'time_zone must be an IANA time zone such as Europe/Berlin, or an offset such as +05:30',
    path: 'time_zone',
  })),
  ...[-1, 241, 1.5].map((minutes) => ({
    input: { buffer_before_minutes: minutes },
    message: 'buffer_before_minutes must be an integer between 0 and 240',
    path: 'buffer_before_minutes',
  })),
  { input: { days_off: ['24.12.2026'] }, message: 'days_off.0 must be a date such as 2026-12-24', path: 'days_off.0' },
  ...['confirm_email', 'notify_host'].map((path) => ({
    input: { [path]: 'yes' },
    message: `${path} must be a boolean`,
    path,
  })),
  ...[4, 20_161, 7.5, '30'].map((minutes) => ({
    input: { reminder_minutes: minutes },
    message: 'reminder_minutes must be an integer between 5 and 20160',
    path: 'reminder_minutes',
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

export const bookingPageRows: Rows = {
  'bookingPages.list': { who: 'member', keys: true, input: inWorkspace, writes: false, wrong: wrongPages },
  'bookingPages.create': {
    who: 'admin',
    keys: true,
    input: (scene) => ({
      ...inWorkspace(scene),
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
      input: (scene) => ({ ...inWorkspace(scene), ...slug(scene), title: 'Another', time_zone: 'UTC', hours: [] }),
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
    input: (scene) => ({ ...inWorkspace(scene), pageId: scene.quietPageId }),
    writes: true,
    children,
    conflict: { input: page, message: 'The page has upcoming bookings: cancel them first' },
  },
};

function page(scene: Scene): Input {
  return { ...inWorkspace(scene), pageId: scene.pageId };
}

function slug({ roomName }: Scene): Input {
  return { slug: roomName };
}
