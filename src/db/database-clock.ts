/** The time of the service: the same in all processes on one database, whatever the clocks of their machines say. */
import type { Log } from '../core/log.ts';
import { systemTicker, type Ticker } from '../core/ticker.ts';
import { type Clock, SECOND_MS, systemClock } from '../core/time.ts';
import type { Database } from './client.ts';
import { onlyRow } from './only-row.ts';
import { float, statement } from './statements.ts';

/** `stop` ends the measurements, but the clock keeps running. It resolves once no measurement is in progress. */
export type DatabaseClock = Clock & { stop(): Promise<void> };

export type DatabaseClockOptions = {
  /** Resolves with the time of the database, in milliseconds since 1970. */
  readTime: () => Promise<number>;
  log: Log;
  /** The clock of this machine. It does not affect the time; a large difference is logged. */
  machineClock?: Clock | undefined;
  ticker?: Ticker;
};

/** The time of the database minus that of the ticker, in milliseconds. It is wrong by at most `errorMs`. */
type Measurement = { offset: number; errorMs: number };

const MEASURE_EVERY_MS = 30 * SECOND_MS;
/**
 * The first measurement is imprecise, because the first statement on a connection is slow. If it is wrong by more than
 * MAX_STEP_MS, the next two measurements correct it, provided that they agree.
 */
const MEASUREMENTS_AT_START = 3;
/** A larger correction is made only if the next measurement agrees to within this time. */
const MAX_STEP_MS = SECOND_MS;
const MAX_SKEW_MS = SECOND_MS;

/**
 * Starts a clock that follows the database's clock. Between measurements it runs with the ticker, so a change of the
 * machine's clock does not affect it. It never goes backwards: if the database's clock does, this clock stops until the
 * database's clock has caught up. A measurement that fails changes nothing.
 *
 * Rejects if one of the first measurements fails.
 */
export async function startDatabaseClock({
  readTime,
  log,
  machineClock = systemClock,
  ticker = systemTicker,
}: DatabaseClockOptions): Promise<DatabaseClock> {
  const measure = async (): Promise<Measurement> => {
    const sentAt = ticker.now();
    const time = await readTime();
    const errorMs = (ticker.now() - sentAt) / 2;
    return { offset: time - sentAt - errorMs, errorMs };
  };

  let { offset } = await measure();
  /** A large correction, which the next measurement must confirm. */
  let unconfirmed: number | null = null;
  let latest = Number.NEGATIVE_INFINITY;
  let isSkewLogged = false;
  let isFailing = false;

  const now = (): Date => {
    latest = Math.max(latest, ticker.now() + offset);
    return new Date(latest);
  };

  const correct = (next: number): void => {
    const isLarge = Math.abs(next - offset) > MAX_STEP_MS;
    if (isLarge && (unconfirmed === null || Math.abs(next - unconfirmed) > MAX_STEP_MS)) {
      unconfirmed = next;
      return;
    }
    if (isLarge) log.warn({ seconds: toSeconds(next - offset) }, 'The clock of the database has moved: following it');
    unconfirmed = null;
    offset = next;
  };

  const logSkew = (): void => {
    if (isSkewLogged || unconfirmed !== null) return;
    const skew = machineClock.now().getTime() - (ticker.now() + offset);
    if (Math.abs(skew) <= MAX_SKEW_MS) return;
    isSkewLogged = true;
    log.warn(
      { seconds: toSeconds(skew) },
      'The clock of this machine differs from that of the database: using that of the database',
    );
  };

  const update = async (): Promise<void> => {
    correct(nearestOffset(offset, await measure()));
    logSkew();
    isFailing = false;
  };

  for (let count = 1; count < MEASUREMENTS_AT_START; count += 1) await update();

  let updating: Promise<void> | null = null;
  const stopMeasuring = ticker.every(MEASURE_EVERY_MS, () => {
    updating ??= update()
      .catch((error: unknown) => {
        if (!isFailing)
          log.warn({ err: error }, 'Failed to read the clock of the database: continuing with the last measurement');
        isFailing = true;
      })
      .finally(() => {
        updating = null;
      });
  });

  return {
    now,
    async stop() {
      stopMeasuring();
      await updating;
    },
  };
}

const databaseTime = statement('read-database-time', {
  params: {},
  returns: { ms: float },
  sql: 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
});

/** Reads the time of the database, in milliseconds since 1970. */
export async function readDatabaseTime(db: Pick<Database, 'sql'>): Promise<number> {
  return onlyRow(await db.sql.run(databaseTime, {})).ms;
}

/**
 * Of the offsets that the measurement allows, returns the one nearest to the current offset. A slow measurement allows
 * a wide range of offsets, so it may correct little or nothing.
 */
function nearestOffset(current: number, { offset, errorMs }: Measurement): number {
  return Math.min(Math.max(current, offset - errorMs), offset + errorMs);
}

function toSeconds(ms: number): number {
  return Math.round(ms) / SECOND_MS;
}
