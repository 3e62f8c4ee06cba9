/** How the clock of the service follows the one of the database. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DatabaseClock, startDatabaseClock } from '../../src/db/database-clock.ts';
import { createManualTicker, type ManualTicker } from '../support/manual-ticker.ts';
import { quietLog } from '../support/quiet-log.ts';

/** The time of the database when the ticker is at 0. */
const START = Date.UTC(2026, 2, 1);
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const MEASURE_MS = 30 * SECOND_MS;

/** The database as the clock sees it. All times are in milliseconds. */
type World = {
  /** How far its clock has been moved. */
  moved: number;
  /** How long the request and the response take. */
  there: number;
  back: number;
  isDown: boolean;
  /** Holds the answer back. */
  answer: Promise<void>;
  measurements: number;
};

let ticker: ManualTicker;
let world: World;
let machineMoved: number;
let warnings: { message: string; seconds?: number }[];
let clock: DatabaseClock;

beforeEach(() => {
  ticker = createManualTicker();
  world = { moved: 0, there: 0, back: 0, isDown: false, answer: Promise.resolve(), measurements: 0 };
  machineMoved = 0;
  warnings = [];
});
afterEach(() => clock.stop());

async function readTime(): Promise<number> {
  world.measurements += 1;
  // The ticker cannot be advanced while it is calling what is due.
  await Promise.resolve();
  if (world.isDown) throw new Error('The database is down');
  ticker.advance(world.there);
  const time = START + ticker.now() + world.moved;
  ticker.advance(world.back);
  await world.answer;
  return time;
}

async function start(): Promise<void> {
  const warn = (details: object, message: string) => void warnings.push({ ...details, message });
  const machineClock = { now: () => new Date(START + ticker.now() + machineMoved) };
  clock = await startDatabaseClock({ readTime, log: { ...quietLog, warn }, machineClock, ticker });
}

/** Lets the time until the next measurement pass, and waits for it. */
async function measureAgain(): Promise<void> {
  ticker.advance(MEASURE_MS);
  await new Promise((resolve) => setImmediate(resolve));
}

async function pass(measurements: number): Promise<void> {
  for (let count = 0; count < measurements; count += 1) await measureAgain();
}

/** How far the clock is ahead of a database whose clock was not moved. */
function ahead(): number {
  return clock.now().getTime() - START - ticker.now();
}

test('the clock has the time of the database, and runs with the ticker', async () => {
  machineMoved = -10 * MINUTE_MS;
  await start();
  expect(ahead()).toBe(0);
  ticker.advance(12_345);
  expect(ahead()).toBe(0);
  machineMoved = 10 * MINUTE_MS;
  await measureAgain();
  expect(ahead()).toBe(0);
});

test('half the round trip is taken for the way back', async () => {
  world.there = 40;
  world.back = 40;
  await start();
  expect(ahead()).toBe(0);
});

test('the error is at most half of the first round trip, and later at most a whole one', async () => {
  world.there = 400;
  await start();
  expect(Math.abs(ahead())).toBe(200);
  world.there = 2;
  await pass(2);
  expect(Math.abs(ahead())).toBeLessThanOrEqual(2);
});

test('a slow measurement corrects no more than it proves', async () => {
  await start();
  world.back = 9 * SECOND_MS;
  await pass(5);
  expect(ahead()).toBe(0);
  world.moved = 500;
  await measureAgain();
  expect(ahead()).toBe(0);
});

test('a slow drift of the database is followed', async () => {
  await start();
  for (let count = 0; count < 100; count += 1) {
    world.moved += 20;
    await measureAgain();
  }
  expect(ahead()).toBe(2_000);
  expect(warnings).toMatchObject([{ seconds: -1.02, message: expect.stringMatching(/^The clock of this machine/) }]);
});

test('a measurement that is far off is ignored unless the next one agrees', async () => {
  await start();
  world.moved = 10 * MINUTE_MS;
  await measureAgain();
  expect(ahead()).toBe(0);
  world.moved = 0;
  await measureAgain();
  world.moved = 10 * MINUTE_MS;
  await measureAgain();
  expect(ahead()).toBe(0);
  expect(warnings).toEqual([]);
  machineMoved = 10 * MINUTE_MS;
  await measureAgain();
  expect(ahead()).toBe(10 * MINUTE_MS);
  expect(warnings).toEqual([{ seconds: 600, message: 'The clock of the database has moved: following it' }]);
});

test('a wrong first measurement is corrected before the clock is used', async () => {
  const read = async (): Promise<number> => {
    world.moved = world.measurements === 0 ? 10 * MINUTE_MS : 0;
    return readTime();
  };
  clock = await startDatabaseClock({ readTime: read, log: quietLog, ticker });
  expect(ahead()).toBe(0);
});

test('the clock stands still instead of going back, and goes on when its time is reached', async () => {
  await start();
  const before = clock.now().getTime();
  world.moved = -10 * MINUTE_MS;
  await pass(2);
  const stopped = clock.now().getTime();
  expect(stopped - before).toBeLessThanOrEqual(2 * MEASURE_MS);
  await pass(15);
  expect(clock.now().getTime()).toBe(stopped);
  await pass(10);
  expect(clock.now().getTime()).toBeGreaterThan(stopped);
  expect(ahead()).toBe(-10 * MINUTE_MS);
});

test('an outage is logged once, and the clock runs on until the database answers again', async () => {
  await start();
  world.isDown = true;
  await pass(5);
  expect(ahead()).toBe(0);
  expect(warnings).toHaveLength(1);
  world.isDown = false;
  world.moved = 300;
  await measureAgain();
  expect(ahead()).toBe(300);
  world.isDown = true;
  await measureAgain();
  expect(warnings).toHaveLength(2);
});

test('while a measurement hangs there is no other one, and stopping waits for it', async () => {
  await start();
  const { promise, resolve } = Promise.withResolvers<void>();
  world.answer = promise;
  const { measurements } = world;
  await pass(5);
  expect(world.measurements).toBe(measurements + 1);
  let isStopped = false;
  const stopping = clock.stop().then(() => {
    isStopped = true;
  });
  await new Promise((done) => setImmediate(done));
  expect(isStopped).toBe(false);
  resolve();
  await stopping;
  expect(ticker.running()).toBe(0);
});

test.each([
  [900, []],
  [600_000, [600]],
  [-600_000, [-600]],
])('a machine clock that is %i ms ahead of the database is logged once: %j', async (skew, expected) => {
  machineMoved = skew;
  await start();
  await pass(2);
  expect(warnings.map(({ seconds }) => seconds)).toEqual(expected);
});

test('a start without an answer of the database fails', async () => {
  await start();
  world.isDown = true;
  await expect(start()).rejects.toThrow('The database is down');
  expect(ticker.running()).toBe(1);
});
