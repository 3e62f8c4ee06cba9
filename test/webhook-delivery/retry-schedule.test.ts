import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRetryAfter } from '../../src/webhook-delivery/retry-after.ts';
import { nextDelayMs } from '../../src/webhook-delivery/retry-schedule.ts';

/** The smallest jitter. */
function noJitter(): number {
  return 0;
}

/** The largest jitter. */
function fullJitter(): number {
  return 1;
}

function hours(count: number): number {
  return count * 3_600_000;
}

const scheduled = [0, 5_000, 300_000, 1_800_000, ...[2, 5, 10, 14, 20, 24].map(hours)];

describe('the schedule', () => {
  test('has ten attempts, with the documented delays', () => {
    expect(scheduled.map((_, attempts) => nextDelayMs(attempts, null, noJitter))).toEqual(scheduled);
    expect(nextDelayMs(10, null)).toBeNull();
    expect(nextDelayMs(11, 5)).toBeNull();
  });

  test('adds up to 20 % to a delay, and never shortens it', () => {
    expect(scheduled.map((_, attempts) => nextDelayMs(attempts, null, fullJitter))).toEqual(
      scheduled.map((delay) => delay * 1.2),
    );
    for (const [attempts, delay] of scheduled.entries()) {
      for (let round = 0; round < 50; round++) {
        const delayMs = nextDelayMs(attempts, null);
        expect(delayMs).toBeGreaterThanOrEqual(delay);
        expect(delayMs).toBeLessThanOrEqual(delay * 1.2);
      }
    }
    expect(new Set(Array.from({ length: 50 }, () => nextDelayMs(3, null))).size).toBeGreaterThan(40);
  });

  test('waits for as long as the receiver asks, up to an hour', () => {
    expect(nextDelayMs(1, 60, noJitter)).toBe(60_000);
    expect(nextDelayMs(1, 3_600, noJitter)).toBe(3_600_000);
    expect(nextDelayMs(1, 3_601, noJitter)).toBe(3_600_000);
    expect(nextDelayMs(1, 315_360_000, noJitter)).toBe(3_600_000);
    expect(nextDelayMs(1, Number.MAX_SAFE_INTEGER, fullJitter)).toBe(4_320_000);
    expect(nextDelayMs(1, 60, fullJitter)).toBe(72_000);
  });

  test('never waits for less than the scheduled delay', () => {
    expect(nextDelayMs(1, 0, noJitter)).toBe(5_000);
    expect(nextDelayMs(2, 10, noJitter)).toBe(300_000);
    expect(nextDelayMs(4, 3_600, noJitter)).toBe(hours(2));
  });

  test('returns whole milliseconds', () => {
    fc.assert(
      fc.property(
        fc.nat(9),
        fc.nat(10_000),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempts, seconds, random) => {
          expect(Number.isInteger(nextDelayMs(attempts, seconds, () => random))).toBe(true);
        },
      ),
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
    // The example of RFC 9110, section 5.6.7, in its three forms: 36.5 s from now.
    ['Sun, 06 Nov 1994 08:49:37 GMT', 37],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37],
    ['Sun Nov  6 08:49:37 1994', 37],
    ['Sun Nov 13 08:49:01 1994', 604_801],
    ['Sun, 06 Nov 1994 08:48:00 GMT', 0],
    ['Fri, 31 Dec 1999 23:59:60 GMT', 162_573_060],
    ['Thu, 29 Feb 1996 00:00:00 GMT', 41_440_260],
    // A year of two digits: 50 years ahead is in the future, 51 is in the past.
    ['Sunday, 06-Nov-44 08:49:37 GMT', 1_577_923_237],
    ['Sunday, 06-Nov-45 08:49:37 GMT', 0],
  ])('%s is valid', (value, seconds) => {
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
    ['text', 'soon'],
    ['ISO 8601', '1994-11-06T09:00:00Z'],
    ['another zone', 'Sun, 06 Nov 1994 08:49:37 CET'],
    ['a day that does not exist', 'Wed, 30 Feb 1994 00:00:00 GMT'],
    ['an hour that does not exist', 'Sun, 06 Nov 1994 24:00:00 GMT'],
    ['a date with more text after it', 'Sun, 06 Nov 1994 08:49:37 GMT!'],
  ])('%s is invalid', (_name, value) => {
    expect(parseRetryAfter(value, now)).toBeNull();
  });

  test('the longest of several valid values counts', () => {
    expect(parseRetryAfter(['5', 'soon', '60'], now)).toBe(60);
    expect(parseRetryAfter(['soon', '-1'], now)).toBeNull();
    expect(parseRetryAfter([], now)).toBeNull();
  });

  test('reads any time of two centuries in the preferred form', () => {
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

  test('takes no longer for a hostile value', () => {
    // CPU time, which does not depend on other processes.
    const before = process.cpuUsage();
    parseRetryAfter(`${'1'.repeat(16_000)}x`, now);
    parseRetryAfter(' '.repeat(16_000), now);
    expect(process.cpuUsage(before).user).toBeLessThan(50_000);
  });
});
