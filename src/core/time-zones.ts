/** Finds time zones of the IANA database by name, and fixed offsets such as `+05:30`. */
import { IANAZone } from 'luxon';
import { z } from 'zod';

const MAX_ZONE_LENGTH = 64;

export const timeZoneError = 'time_zone must be an IANA time zone such as Europe/Berlin, or an offset such as +05:30';
export const timeZoneExample = 'Europe/Berlin';

/** What `Intl` accepts: a name of the IANA time zone database, or a fixed offset, which has no daylight saving time. */
export const timeZone = z.string().refine(isTimeZone, { error: timeZoneError }).meta({ example: timeZoneExample });

export function isTimeZone(name: string): boolean {
  return name.length <= MAX_ZONE_LENGTH && findZone(name) !== null;
}

/**
 * Larger than the number of time zones. The cache needs a limit, because callers may spell a name in any letter case.
 */
const MAX_CACHED = 2_000;

const zones = new Map<string, IANAZone>();

/**
 * Returns null if there is no time zone with this name. The result is cached, because creating a formatter costs as
 * much as a small request. The name is normalized first: luxon caches every spelling that it sees, without a limit.
 */
export function findZone(name: string): IANAZone | null {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const normalized = normalize(name);
  if (normalized === null) return null;
  if (zones.size >= MAX_CACHED) zones.clear();
  const zone = IANAZone.create(normalized);
  zones.set(name, zone);
  return zone;
}

function normalize(name: string): string | null {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
