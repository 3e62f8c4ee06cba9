/** The devices from which users sign in. */

import { createHash } from 'node:crypto';
import { networkOf } from '../../auth/networks.ts';
import { DAY_MS } from '../../core/time.ts';
import { runWrite, type Tx } from '../../db/client.ts';
import { DELETE_BATCH, inBatches } from '../../db/in-batches.ts';
import { onlyRow } from '../../db/only-row.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, bytes, int, statement, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';

/** The network address and User-Agent header of a caller; null if unknown. */
export type Client = { address: string | null; userAgent: string | null };

const UNKNOWN = 'Unknown device';

/** Programs that are not browsers. */
const programs: readonly [RegExp, string][] = [
  [/^curl\//i, 'curl'],
  [/^Wget\//i, 'Wget'],
  [/^PostmanRuntime\//i, 'Postman'],
  [/^(?:node|undici)\b/i, 'Node.js'],
  [/^(?:python|aiohttp|httpx)/i, 'Python'],
  [/^Go-http-client\//i, 'Go'],
  [/^(?:okhttp|Java)\//i, 'Java'],
];

/** Browsers, ordered so that the first match is correct: most User-Agent values also name other browsers. */
const browsers: readonly [RegExp, string][] = [
  [/Edg(?:A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:Chrome|CriOS)\//, 'Chrome'],
  [/Version\/.*Safari\//, 'Safari'],
];

const systems: readonly [RegExp, string][] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/CrOS/, 'ChromeOS'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/Linux/, 'Linux'],
];

/** A device is forgotten after this many days without a sign-in. */
const KNOWN_DAYS = 180;
const MAX_KNOWN_DEVICES = 50;

/**
 * Describes a device, such as "Firefox on Linux". The caller cannot choose any part of the description, so it is safe
 * to send by mail.
 */
export function describeDevice(userAgent: string | null): string {
  if (userAgent === null) return UNKNOWN;
  const program = nameIn(programs, userAgent);
  if (program !== null) return program;
  const [browser, system] = [nameIn(browsers, userAgent), nameIn(systems, userAgent)];
  if (browser === null) return system ?? UNKNOWN;
  return system === null ? browser : `${browser} on ${system}`;
}

function nameIn(table: readonly [RegExp, string][], userAgent: string): string | null {
  return table.find(([pattern]) => pattern.test(userAgent))?.[1] ?? null;
}

const recordStatement = statement('record-device', {
  params: { userId: int, hash: bytes, now: time },
  returns: { isNew: bool },
  // `xmax` is 0 if the statement inserted the row.
  sql: `
    insert into known_devices (user_id, device_hash, last_seen_at) values ($userId, $hash, $now)
    on conflict (user_id, device_hash) do update set last_seen_at = excluded.last_seen_at
    returning xmax = 0 as "isNew"`,
});

const forgetOldest = statement('forget-oldest-devices', {
  params: { userId: int },
  sql: `
    delete from known_devices where user_id = $userId and device_hash in (
      select device_hash from known_devices where user_id = $userId
      order by last_seen_at desc, device_hash offset ${MAX_KNOWN_DEVICES})`,
});

/**
 * Records a sign-in from a device, which is identified by its browser, operating system and network. Returns whether
 * this is the first sign-in from the device. Of several concurrent first sign-ins, only one returns true.
 */
export async function recordDevice(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  userId: number,
  { address, userAgent }: Client,
): Promise<boolean> {
  const text = JSON.stringify([userId, describeDevice(userAgent), address && networkOf(address)]);
  const hash = new Uint8Array(createHash('sha256').update(text).digest());
  const sql = sqlIn(tx);
  const { isNew } = onlyRow(await sql.run(recordStatement, { userId, hash, now: clock.now() }));
  if (isNew) await sql.run(forgetOldest, { userId });
  return isNew;
}

/** Deletes devices that have not been used for a long time. */
export async function forgetDevices({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const before = new Date(clock.now().getTime() - KNOWN_DAYS * DAY_MS);
  const where = { lastSeenAt: { lte: before } };
  await inBatches(DELETE_BATCH, async (limit) => {
    const { count } = await runWrite(db, (tx) => tx.knownDevice.deleteMany({ where, limit }));
    return count;
  });
}
