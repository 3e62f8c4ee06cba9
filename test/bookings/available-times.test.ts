import fc from 'fast-check';
import { IANAZone } from 'luxon';
import { describe, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import { parseInput } from '../../src/core/validation.ts';
import {
  minutesOfDay,
  OpeningHours,
  type WeeklyInterval,
  weekdays,
} from '../../src/features/booking-pages/opening-hours.ts';
import {
  type AvailableTimesInput,
  findAvailableTimes,
  isAvailable,
  type TakenTime,
} from '../../src/features/bookings/available-times.ts';

function week(from: string, to: string): WeeklyInterval[] {
  return weekdays.map((day) => ({ day, from, to }));
}

function berlin(...hours: WeeklyInterval[]): OpeningHours {
  return { time_zone: 'Europe/Berlin', hours };
}

function at(text: string): Date {
  return new Date(text);
}

/** The available times as HH:MM in UTC. The default window is one day in UTC. */
function startsOf(
  day: string,
  input: Partial<AvailableTimesInput> & Pick<AvailableTimesInput, 'openingHours'>,
): string[] {
  return findAvailableTimes({
    durationMinutes: 60,
    taken: [],
    now: at('1970-01-01T00:00:00Z'),
    maxSlots: 10_000,
    from: at(`${day}T00:00:00Z`),
    to: new Date(at(`${day}T00:00:00Z`).getTime() + DAY_MS),
    ...input,
  }).map((start) => start.toISOString().slice(11, 16));
}

function everyHour(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${String(first + index).padStart(2, '0')}:00`);
}

describe('opening hours', () => {
  const validate = (input: unknown): string => {
    try {
      parseInput(OpeningHours, input);
      return 'accepted';
    } catch (error) {
      return error instanceof Error ? error.message : 'no error';
    }
  };
  const monday = (from: string, to: string) => ({ day: 'monday', from, to });
  const malformedFrom = 'hours.0.from must be a time of day such as 09:00, from 00:00 to 23:59';
  const malformedTo = 'hours.0.to must be a time of day such as 17:00, from 00:00 to 24:00';

  test.each([
    'Europe/Berlin',
    'UTC',
    'Asia/Kolkata',
    'Etc/GMT+5',
    'America/Argentina/ComodRivadavia',
    'europe/berlin',
    '+05:30',
  ])('accept the time zone %s', (time_zone) => {
    expect(validate({ time_zone, hours: [] })).toBe('accepted');
  });

  test.each(['', 'Mars/Olympus', '+25:00', 'Europe/Berlin ', 'Europe', 'local', 'x'.repeat(65)])(
    'reject the time zone %j',
    (time_zone) => {
      expect(validate({ time_zone, hours: [] })).toBe(
        'time_zone must be an IANA time zone such as Europe/Berlin, or an offset such as +05:30',
      );
    },
  );

  test.each<[message: string, input: object]>([
    ['time_zone is required', { hours: [] }],
    ['hours is required', { time_zone: 'UTC' }],
    [
      `hours.0.day must be one of ${weekdays.join(', ')}`,
      { time_zone: 'UTC', hours: [{ day: 'noday', from: '09:00', to: '10:00' }] },
    ],
    [malformedFrom, { time_zone: 'UTC', hours: [monday('9:00', '10:00')] }],
    [malformedFrom, { time_zone: 'UTC', hours: [monday('24:00', '24:00')] }],
    [malformedTo, { time_zone: 'UTC', hours: [monday('09:00', '24:01')] }],
    [malformedTo, { time_zone: 'UTC', hours: [monday('09:00', '10:60')] }],
    ['hours.0.from must be before hours.0.to', { time_zone: 'UTC', hours: [monday('17:00', '09:00')] }],
    ['hours.0.from must be before hours.0.to', { time_zone: 'UTC', hours: [monday('09:00', '09:00')] }],
    [
      'hours must have at most 50 entries',
      { time_zone: 'UTC', hours: Array.from({ length: 51 }, () => monday('09:00', '10:00')) },
    ],
    [
      'hours must not overlap: monday 09:00-14:00 and monday 13:00-15:00',
      { time_zone: 'UTC', hours: [monday('13:00', '15:00'), monday('09:00', '14:00')] },
    ],
    [
      'hours must not overlap: monday 09:00-17:00 and monday 09:00-17:00',
      { time_zone: 'UTC', hours: [monday('09:00', '17:00'), monday('09:00', '17:00')] },
    ],
  ])('are rejected with: %s', (message, input) => {
    expect(validate(input)).toBe(message);
  });

  test('accept intervals that touch, last until midnight and are in any order', () => {
    const hours = [monday('12:00', '24:00'), monday('00:00', '12:00'), { day: 'sunday', from: '09:00', to: '23:59' }];
    expect(validate({ time_zone: 'UTC', hours })).toBe('accepted');
  });
});

describe('slots of an ordinary day', () => {
  const monday = '2026-06-01';
  const openingHours = berlin({ day: 'monday', from: '09:00', to: '12:00' });

  test('follow each other from the start of the interval and lie entirely within it', () => {
    expect(startsOf(monday, { openingHours })).toEqual(['07:00', '08:00', '09:00']);
    expect(startsOf(monday, { openingHours, durationMinutes: 50 })).toEqual(['07:00', '07:50', '08:40']);
    expect(startsOf(monday, { openingHours, durationMinutes: 180 })).toEqual(['07:00']);
    expect(startsOf(monday, { openingHours, durationMinutes: 181 })).toEqual([]);
    expect(startsOf('2026-06-02', { openingHours })).toEqual([]);
  });

  test('do not cross from one interval to the next one that touches it', () => {
    const both = berlin({ day: 'monday', from: '10:00', to: '12:00' }, { day: 'monday', from: '09:00', to: '10:00' });
    expect(startsOf(monday, { openingHours: both, durationMinutes: 40 })).toEqual(['07:00', '08:00', '08:40', '09:20']);
  });

  test('start at or after now', () => {
    expect(startsOf(monday, { openingHours, now: at(`${monday}T08:00:00Z`) })).toEqual(['08:00', '09:00']);
    expect(startsOf(monday, { openingHours, now: at(`${monday}T08:00:00.001Z`) })).toEqual(['09:00']);
  });

  test('start within the window, not at its end', () => {
    const window = { from: at(`${monday}T08:00:00Z`), to: at(`${monday}T09:00:00Z`) };
    expect(startsOf(monday, { openingHours, ...window })).toEqual(['08:00']);
    expect(startsOf(monday, { openingHours, from: window.to, to: window.from })).toEqual([]);
    expect(startsOf(monday, { openingHours, from: window.to, to: window.to })).toEqual([]);
  });

  test.each<[what: string, taken: [string, string][], free: string[]]>([
    ['that touch a taken time are available', [['08:00', '09:00']], ['07:00', '09:00']],
    ['that overlap a taken time by one minute are not available', [['07:59', '08:01']], ['09:00']],
    ['that contain a taken time are not available', [['08:20', '08:25']], ['07:00', '09:00']],
    [
      'ignore empty and reversed taken times',
      [
        ['08:20', '08:20'],
        ['08:30', '08:10'],
      ],
      ['07:00', '08:00', '09:00'],
    ],
    [
      'are not available if a long taken time covers a short one',
      [
        ['07:10', '07:20'],
        ['00:00', '09:00'],
      ],
      ['09:00'],
    ],
    [
      'respect taken times in any order',
      [
        ['09:30', '09:40'],
        ['07:30', '07:40'],
      ],
      ['08:00'],
    ],
  ])('%s', (_, taken, free) => {
    const times = taken.map(([from, to]) => ({
      startsAt: at(`${monday}T${from}:00Z`),
      endsAt: at(`${monday}T${to}:00Z`),
    }));
    expect(startsOf(monday, { openingHours, taken: times })).toEqual(free);
  });

  test('are the earliest ones if `maxSlots` limits them', () => {
    expect(startsOf(monday, { openingHours, maxSlots: 2 })).toEqual(['07:00', '08:00']);
    expect(startsOf(monday, { openingHours, maxSlots: 0 })).toEqual([]);
  });

  test('need a window of at most 64 days and a positive duration', () => {
    const to = new Date(at(`${monday}T00:00:00Z`).getTime() + 64 * DAY_MS);
    expect(startsOf(monday, { openingHours, to })).toHaveLength(10 * 3);
    expect(() => startsOf(monday, { openingHours, to: new Date(to.getTime() + 1) })).toThrow(RangeError);
    expect(() => startsOf(monday, { openingHours, to: new Date(Number.NaN) })).toThrow(RangeError);
    for (const durationMinutes of [0, -5, Number.NaN]) {
      expect(() => startsOf(monday, { openingHours, durationMinutes })).toThrow(RangeError);
    }
  });
});

describe('slots on a day when the offset from UTC changes', () => {
  const slots = (time_zone: string, day: string, hours: WeeklyInterval[], durationMinutes = 60): string[] =>
    startsOf(day, { openingHours: { time_zone, hours }, durationMinutes });
  const sunday = (from: string, to: string): WeeklyInterval[] => [{ day: 'sunday', from, to }];

  test('Berlin, from 02:00 to 03:00 in spring: the hour is skipped', () => {
    expect(slots('Europe/Berlin', '2026-03-29', sunday('01:00', '05:00'))).toEqual(['00:00', '01:00', '02:00']);
    expect(slots('Europe/Berlin', '2026-03-29', sunday('02:00', '03:00'), 5)).toEqual([]);
    expect(slots('Europe/Berlin', '2026-03-29', sunday('02:30', '04:00'))).toEqual(['01:00']);
  });

  test('Berlin, from 03:00 to 02:00 in autumn: an interval around the hour is longer', () => {
    const window = { from: at('2026-10-24T12:00:00Z'), to: at('2026-10-25T12:00:00Z') };
    const openingHours = berlin(...sunday('01:00', '04:00'));
    expect(startsOf('2026-10-25', { openingHours, ...window })).toEqual(['23:00', '00:00', '01:00', '02:00']);
  });

  test('Berlin, from 03:00 to 02:00 in autumn: an interval that starts or ends within the hour opens twice', () => {
    expect(slots('Europe/Berlin', '2026-10-25', sunday('02:30', '03:00'), 30)).toEqual(['00:30', '01:30']);
    expect(slots('Europe/Berlin', '2026-10-25', sunday('02:30', '04:00'), 30)).toEqual([
      '00:30',
      '01:30',
      '02:00',
      '02:30',
    ]);
    expect(slots('Europe/Berlin', '2026-10-25', sunday('02:00', '02:30'), 30)).toEqual(['00:00', '01:00']);
    expect(
      slots('Europe/Berlin', '2026-10-25', [...sunday('02:00', '02:30'), ...sunday('02:30', '03:00')], 15),
    ).toEqual(['00:00', '00:15', '00:30', '00:45', '01:00', '01:15', '01:30', '01:45']);
  });

  test('Lord Howe: a change of half an hour', () => {
    // 02:00 +11:00 becomes 01:30 +10:30; half a year later 02:00 becomes 02:30.
    expect(slots('Australia/Lord_Howe', '2026-04-04', sunday('01:00', '03:00'), 30)).toEqual([
      '14:00',
      '14:30',
      '15:00',
      '15:30',
      '16:00',
    ]);
    expect(slots('Australia/Lord_Howe', '2026-10-03', sunday('01:00', '03:00'), 30)).toEqual([
      '14:30',
      '15:00',
      '15:30',
    ]);
  });

  test('Casablanca: back before Ramadan and forward after it', () => {
    expect(slots('Africa/Casablanca', '2026-02-15', sunday('01:00', '04:00'))).toEqual(everyHour(0, 4));
    expect(slots('Africa/Casablanca', '2026-03-22', sunday('01:00', '04:00'))).toEqual(everyHour(1, 2));
  });

  test('São Paulo until 2019: midnight is skipped or repeated', () => {
    expect(slots('America/Sao_Paulo', '2018-11-04', sunday('00:00', '03:00'))).toEqual(['03:00', '04:00']);
    const saturday: WeeklyInterval[] = [{ day: 'saturday', from: '22:00', to: '24:00' }];
    expect(slots('America/Sao_Paulo', '2018-02-18', saturday)).toEqual(everyHour(0, 3));
    expect(slots('America/Sao_Paulo', '2018-02-18', sunday('00:00', '02:00'))).toEqual(['03:00', '04:00']);
  });

  test("St. John's until 2011: one minute of Sunday, then an hour of Saturday again, then Sunday", () => {
    const window = { from: at('2010-11-07T01:00:00Z'), to: at('2010-11-07T05:00:00Z'), durationMinutes: 29 };
    const saturday: WeeklyInterval = { day: 'saturday', from: '23:00', to: '24:00' };
    const openingHours = { time_zone: 'America/St_Johns', hours: [saturday, ...sunday('00:00', '01:00')] };
    expect(startsOf('2010-11-07', { openingHours, ...window })).toEqual([
      '01:30',
      '01:59',
      '02:31',
      '03:00',
      '03:30',
      '03:59',
    ]);
    expect(startsOf('2010-11-07', { openingHours, ...window, durationMinutes: 1 })).toHaveLength(60 + 1 + 59 + 60);
  });

  test('Apia: Friday, 30 December 2011 was skipped', () => {
    const window = { from: at('2011-12-28T00:00:00Z'), to: at('2012-01-01T12:00:00Z') };
    const openingHours = { time_zone: 'Pacific/Apia', hours: week('12:00', '13:00') };
    const starts = findAvailableTimes({
      openingHours,
      durationMinutes: 60,
      taken: [],
      now: window.from,
      maxSlots: 9,
      ...window,
    });
    expect(starts.map((start) => start.toISOString().slice(0, 16))).toEqual([
      '2011-12-28T22:00', // Wednesday
      '2011-12-29T22:00', // Thursday
      '2011-12-30T22:00', // Saturday
      '2011-12-31T22:00', // Sunday
    ]);
    const fridays = { ...openingHours, hours: [{ day: 'friday', from: '00:00', to: '24:00' } as const] };
    expect(startsOf('2011-12-30', { openingHours: fridays, ...window })).toEqual([]);
  });

  test('Kiritimati: 14 hours ahead of UTC', () => {
    expect(slots('Pacific/Kiritimati', '2026-06-07', [{ day: 'monday', from: '00:00', to: '02:00' }])).toEqual(
      everyHour(10, 2),
    );
  });

  test.each([
    ['Asia/Kolkata', '03:30'],
    ['Asia/Kathmandu', '03:15'],
    ['Australia/Eucla', '00:15'],
  ])('%s: an offset that is not a whole hour', (zone, start) => {
    expect(slots(zone, '2026-06-07', sunday('09:00', '10:00'))).toEqual([start]);
  });

  test('a page that is always open is open on days of 23, 24 and 25 hours', () => {
    const hours = week('00:00', '24:00');
    const countOn = (day: string): number => {
      const from = at(`${day}T00:00:00Z`);
      const openingHours = { time_zone: 'Europe/London', hours };
      return startsOf(day, { openingHours, from, to: new Date(from.getTime() + 26 * HOUR_MS) }).length;
    };
    expect(countOn('2026-06-01')).toBe(26);
    expect(countOn('2026-03-29')).toBe(26);
    expect(countOn('2026-10-25')).toBe(26);
  });
});

/** A local time, computed with Intl alone. */
type LocalTime = { date: string; weekday: string; minutes: number };

const formatters = new Map<string, Intl.DateTimeFormat>();

function toLocalTime(timeZone: string, time: number): LocalTime {
  const known = formatters.get(timeZone);
  const formatter =
    known ?? new Intl.DateTimeFormat('en-GB', { timeZone, hourCycle: 'h23', dateStyle: 'full', timeStyle: 'short' });
  formatters.set(timeZone, formatter);
  const parts = Object.fromEntries(formatter.formatToParts(time).map(({ type, value }) => [type, value]));
  return {
    date: `${parts.year} ${parts.month} ${parts.day}`,
    weekday: String(parts.weekday).toLowerCase(),
    minutes: Number(parts.hour) * 60 + Number(parts.minute),
  };
}

/** Identifies the interval that is open at a local time. Returns undefined if the page is closed. */
function findOpenInterval({ time_zone, hours }: OpeningHours, local: LocalTime): string | undefined {
  const open = hours.find(
    ({ day, from, to }) =>
      day === local.weekday && minutesOfDay(from) <= local.minutes && local.minutes < minutesOfDay(to),
  );
  return open && `${time_zone} ${local.date} ${open.from}`;
}

function toTime(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

/** Up to seven intervals a day between random times. Some of them touch. */
const anyDay = fc
  .tuple(
    fc.uniqueArray(fc.oneof(fc.nat(1440), fc.constantFrom(0, 60, 90, 120, 150, 180, 1440)), { maxLength: 8 }),
    fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }),
  )
  .map(([marks, isOpen]) => {
    const sorted = marks.sort((a, b) => a - b).map(toTime);
    return sorted.slice(1).flatMap((to, index) => (isOpen[index] ? [{ from: sorted[index] ?? '', to }] : []));
  });

const anyHours = fc
  .array(anyDay, { minLength: 7, maxLength: 7 })
  .map((days) => weekdays.flatMap((day, index) => (days[index] ?? []).map((interval) => ({ day, ...interval }))))
  .filter((hours) => hours.length <= 50);

/** Times around which a time zone has a special case. */
const oddTimes: [zone: string, around: string][] = [
  ['Europe/Berlin', '2026-03-29T01:00:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['Africa/Casablanca', '2026-02-15T02:00:00Z'],
  ['Africa/Casablanca', '2026-03-22T02:00:00Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00:00Z'],
  ['America/Sao_Paulo', '2018-02-18T02:00:00Z'],
  ['America/St_Johns', '2010-11-07T02:31:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z'],
  ['Pacific/Kwajalein', '1993-08-21T12:00:00Z'],
  ['Pacific/Kiritimati', '1994-12-31T10:00:00Z'],
  ['America/Nuuk', '2026-03-29T01:00:00Z'],
  ['Asia/Kathmandu', '2026-06-01T00:00:00Z'],
];

const anyTimes = fc
  .array(fc.tuple(fc.integer({ min: -2880, max: 2880 }), fc.integer({ min: -5, max: 600 })), { maxLength: 6 })
  .map(
    (times) =>
      (base: number): TakenTime[] =>
        times.map(([offset, length]) => ({
          startsAt: new Date(base + offset * MINUTE_MS),
          endsAt: new Date(base + (offset + length) * MINUTE_MS),
        })),
  );

const anyQuestion = fc
  .record({
    odd: fc.constantFrom(...oddTimes),
    hours: anyHours,
    durationMinutes: fc.integer({ min: 5, max: 480 }),
    from: fc.integer({ min: -1440, max: 720 }),
    length: fc.integer({ min: 0, max: 1440 }),
    now: fc.integer({ min: -3000, max: 600 }),
    taken: anyTimes,
  })
  .map(({ odd: [time_zone, around], hours, durationMinutes, from, length, now, taken }) => {
    const base = at(around).getTime();
    return {
      openingHours: { time_zone, hours },
      durationMinutes,
      taken: taken(base),
      now: new Date(base + now * MINUTE_MS),
      from: new Date(base + from * MINUTE_MS),
      to: new Date(base + (from + length) * MINUTE_MS),
      maxSlots: 10_000,
    };
  });

/** A reference implementation: looks at the local time of every minute. */
function findByMinute({ openingHours, durationMinutes, taken, now, from, to }: AvailableTimesInput): Date[] {
  const duration = durationMinutes * MINUTE_MS;
  const starts: Date[] = [];
  let open: string | undefined;
  let openedAt = 0;
  const last = to.getTime() + duration + MINUTE_MS;
  for (let time = from.getTime() - 2 * DAY_MS; time < last; time += MINUTE_MS) {
    const nowOpen = findOpenInterval(openingHours, toLocalTime(openingHours.time_zone, time));
    if (nowOpen !== open) openedAt = time;
    open = nowOpen;
    // The slot that ends with this minute.
    const end = time + MINUTE_MS;
    const start = end - duration;
    if (open === undefined || start < openedAt || (start - openedAt) % duration !== 0) continue;
    const isTaken = taken.some(
      ({ startsAt, endsAt }) => startsAt < endsAt && startsAt.getTime() < end && endsAt.getTime() > start,
    );
    if (start >= from.getTime() && start < to.getTime() && start >= now.getTime() && !isTaken) {
      starts.push(new Date(start));
    }
  }
  return starts;
}

describe('for any input', () => {
  test('the slots equal those of the reference implementation', () => {
    fc.assert(
      fc.property(anyQuestion, (question) => {
        expect(findAvailableTimes(question)).toEqual(findByMinute(question));
      }),
      { numRuns: 150 },
    );
  });

  test('a slot is in every window that contains its start, and only slots are available', () => {
    const anyMinutes = fc.array(fc.integer({ min: -1500, max: 2200 }), { maxLength: 10 });
    fc.assert(
      fc.property(anyQuestion, fc.nat(1500), fc.nat(1500), anyMinutes, (question, before, after, minutes) => {
        const inside = findAvailableTimes(question).map(Number);
        const from = new Date(question.from.getTime() - before * MINUTE_MS);
        const to = new Date(question.to.getTime() + after * MINUTE_MS);
        const wider = findAvailableTimes({ ...question, from, to }).map(Number);
        expect(wider.filter((time) => time >= Number(question.from) && time < Number(question.to))).toEqual(inside);
        for (const time of wider) {
          expect(isAvailable(question, new Date(time))).toBe(true);
          expect(isAvailable(question, new Date(time + 1))).toBe(false);
        }
        for (const minute of minutes) {
          const time = question.from.getTime() + minute * MINUTE_MS;
          if (time < from.getTime() || time >= to.getTime()) continue;
          expect(isAvailable(question, new Date(time))).toBe(wider.includes(time));
        }
      }),
      { numRuns: 300 },
    );
  });

  test('slots lie within one interval and overlap neither each other nor taken times, in any zone and year', () => {
    const zones = Intl.supportedValuesOf('timeZone');
    const anyInput = fc.record({
      time_zone: fc.constantFrom(...zones),
      hours: anyHours,
      base: fc
        .integer({ min: Date.UTC(1975) / MINUTE_MS, max: Date.UTC(2037) / MINUTE_MS })
        .map((time) => time * MINUTE_MS),
      days: fc.integer({ min: 0, max: 62 }),
      durationMinutes: fc.integer({ min: 5, max: 480 }),
      taken: anyTimes,
    });
    fc.assert(
      fc.property(anyInput, ({ time_zone, hours, base, days, durationMinutes, taken }) => {
        const openingHours = { time_zone, hours };
        const input = { openingHours, durationMinutes, taken: taken(base), now: new Date(base), maxSlots: 300 };
        const starts = findAvailableTimes({
          ...input,
          from: new Date(base - DAY_MS),
          to: new Date(base + days * DAY_MS),
        });
        let free = base;
        for (const start of starts.map(Number)) {
          const end = start + durationMinutes * MINUTE_MS;
          expect(start).toBeGreaterThanOrEqual(free);
          expect(start % MINUTE_MS).toBe(0);
          const shown = [start, (start + end) / 2, end - 1].map((time) =>
            findOpenInterval(openingHours, toLocalTime(time_zone, time)),
          );
          expect(shown[0]).toBeDefined();
          expect(new Set(shown).size).toBe(1);
          for (const { startsAt, endsAt } of input.taken) {
            expect(startsAt >= endsAt || Number(startsAt) >= end || Number(endsAt) <= start).toBe(true);
          }
          free = end;
        }
        expect(
          findAvailableTimes({ ...input, maxSlots: 10_000, from: new Date(base), to: new Date(base + days * DAY_MS) })
            .length,
        ).toBeLessThanOrEqual((days + 1) * 288);
      }),
      { numRuns: 200 },
    );
  });

  test('an invalid or extreme date is not available', () => {
    const hours = { openingHours: berlin(...week('00:00', '24:00')), durationMinutes: 5, taken: [], now: new Date(0) };
    for (const time of [Number.NaN, 8.64e15, -8.64e15]) expect(isAvailable(hours, new Date(time))).toBe(false);
  });

  test('two months of fifty intervals read the offset of the zone once a day, and to find its change', () => {
    const hours = weekdays
      .flatMap((day) =>
        [0, 3, 6, 9, 12, 15, 18].map((hour) => ({ day, from: toTime(hour * 60), to: toTime(hour * 60 + 170) })),
      )
      .concat({ day: 'monday', from: '21:00', to: '24:00' });
    const from = at('2026-09-01T00:00:00Z');
    const to = new Date(from.getTime() + 62 * DAY_MS);
    const taken = Array.from({ length: 2000 }, (_, index) => {
      const startsAt = new Date(from.getTime() + index * 40 * MINUTE_MS);
      return { startsAt, endsAt: new Date(startsAt.getTime() + 5 * MINUTE_MS) };
    });
    const offset = vi.spyOn(IANAZone.prototype, 'offset');
    try {
      const input = { openingHours: berlin(...hours), durationMinutes: 5, taken, now: from, from, to };
      expect(findAvailableTimes({ ...input, maxSlots: 20_000 }).length).toBeGreaterThan(10_000);
      // 62 days, two before and one after, and a binary search for one change within the seconds of a day.
      expect(offset.mock.calls.length).toBeLessThan(100);
    } finally {
      offset.mockRestore();
    }
  });
});
