import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRetryAfter } from '../../src/webhook-delivery/retry-after.ts';
import { nextDelayMs } from '../../src/webhook-delivery/retry-schedule.ts';

function never() {
  return 0;
}
function always() {
  return 1;
}
function hours(count: number): number {
  return count * 3_600_000;
}
const scheduled = [0, 5_000, 300_000, 1_800_000, ...[2, 5, 10, 14, 20, 24].map(hours)];

describe('the schedule', () => {
  test('has ten attempts, at the times that are promised', () => {
    expect(scheduled.map((_, made) => nextDelayMs(made, null, never))).toEqual(scheduled);
    expect(nextDelayMs(10, null)).toBeNull();
    expect(nextDelayMs(11, 5)).toBeNull();
  });

  test('adds at most 20 % to a delay, and never takes from it', () => {
    expect(scheduled.map((_, made) => nextDelayMs(made, null, always))).toEqual(scheduled.map((delay) => delay * 1.2));
    for (const [made, delay] of scheduled.entries()) {
      for (let round = 0; round < 50; round++) {
        const drawn = nextDelayMs(made, null);
        expect(drawn).toBeGreaterThanOrEqual(delay);
        expect(drawn).toBeLessThanOrEqual(delay * 1.2);
      }
    }
    expect(new Set(Array.from({ length: 50 }, () => nextDelayMs(3, null))).size).toBeGreaterThan(40);
  });

  test('waits as long as the receiver asks, up to an hour', () => {
    expect(nextDelayMs(1, 60, never)).toBe(60_000);
    expect(nextDelayMs(1, 3_600, never)).toBe(3_600_000);
    expect(nextDelayMs(1, 3_601, never)).toBe(3_600_000);
    expect(nextDelayMs(1, 315_360_000, never)).toBe(3_600_000);
    expect(nextDelayMs(1, Number.MAX_SAFE_INTEGER, always)).toBe(4_320_000);
    expect(nextDelayMs(1, 60, always)).toBe(72_000);
  });

  test('comes no sooner for a receiver that asks for less', () => {
    expect(nextDelayMs(1, 0, never)).toBe(5_000);
    expect(nextDelayMs(2, 10, never)).toBe(300_000);
    expect(nextDelayMs(4, 3_600, never)).toBe(hours(2));
  });

  test('gives whole milliseconds', () => {
    fc.assert(
      fc.property(fc.nat(9), fc.nat(10_000), fc.double({ min: 0, max: 1, noNaN: true }), (made, asked, drawn) => {
        expect(Number.isInteger(nextDelayMs(made, asked, () => drawn))).toBe(true);
      }),
    );
  });
});

describe('Retry-After', () => {
  const now = new Date('1994-11-06T08:49:00.500Z');

  test.each([
    ['120', 120],
    ['0', 0],
    [' 7 ', 7],
    ['007', 7],
    ['315360000', 315_360_000],
    ['9'.repeat(40), Number.MAX_SAFE_INTEGER],
    // The three forms of the example of RFC 9110, section 5.6.7: in 36.5 s.
    ['Sun, 06 Nov 1994 08:49:37 GMT', 37],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37],
    ['Sun Nov  6 08:49:37 1994', 37],
    ['Sun Nov 13 08:49:01 1994', 604_801],
    ['Sun, 06 Nov 1994 08:48:00 GMT', 0],
    ['Fri, 31 Dec 1999 23:59:60 GMT', 162_573_060],
    ['Thu, 29 Feb 1996 00:00:00 GMT', 41_440_260],
    // A year of two digits: 50 ahead counts as ahead, 51 as past.
    ['Sunday, 06-Nov-44 08:49:37 GMT', 1_577_923_237],
    ['Sunday, 06-Nov-45 08:49:37 GMT', 0],
  ])('%s is read', (value, seconds) => {
    expect(parseRetryAfter(value, now)).toBe(seconds);
  });

  test.each([
    ['nothing', undefined],
    ['an empty value', ''],
    ['a negative number', '-5'],
    ['a fraction', '1.5'],
    ['an exponent', '1e3'],
    ['hexadecimal', '0x10'],
    ['a sign', '+5'],
    ['a list', '120, 120'],
    ['a unit', '120s'],
    ['digits of another script', '١٢'],
    ['words', 'soon'],
    ['ISO 8601', '1994-11-06T09:00:00Z'],
    ['another zone', 'Sun, 06 Nov 1994 08:49:37 CET'],
    ['a day that does not exist', 'Wed, 30 Feb 1994 00:00:00 GMT'],
    ['an hour that does not exist', 'Sun, 06 Nov 1994 24:00:00 GMT'],
    ['a date with more behind it', 'Sun, 06 Nov 1994 08:49:37 GMT!'],
  ])('%s is not', (_name, value) => {
    expect(parseRetryAfter(value, now)).toBeNull();
  });

  test('of several the longest that can be read counts', () => {
    expect(parseRetryAfter(['5', 'soon', '60'], now)).toBe(60);
    expect(parseRetryAfter(['soon', '-1'], now)).toBeNull();
    expect(parseRetryAfter([], now)).toBeNull();
  });

  test('reads every second of two centuries in the preferred form', () => {
    const dates = fc.date({
      noInvalidDate: true,
      min: new Date('1994-11-07T00:00:00Z'),
      max: new Date('2194-01-01T00:00:00Z'),
    });
    fc.assert(
      fc.property(dates, (date) => {
        const ahead = Math.floor(date.getTime() / 1000) - Math.floor(now.getTime() / 1000);
        expect(parseRetryAfter(date.toUTCString(), now)).toBe(ahead);
      }),
    );
  });

  test('takes no longer for hostile text', () => {
    const began = performance.now();
    parseRetryAfter(`${'1'.repeat(16_000)}x`, now);
    parseRetryAfter(' '.repeat(16_000), now);
    expect(performance.now() - began).toBeLessThan(50);
  });
});
