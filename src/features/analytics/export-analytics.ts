import type { Actor } from '../../auth/identify.ts';
import { markByteOrder } from '../../core/byte-order-mark.ts';
import type { Clock } from '../../core/time.ts';
import type { Sql } from '../../db/statements.ts';
import { readAnalyticsRange } from './read-range.ts';
import type { ExportAnalyticsQuery } from './schemas.ts';

const COLUMNS = ['date', 'bookings', 'room_joins', 'new_contacts'];

/** Exports the days of a range as CSV (RFC 4180), oldest first. Throws as `readAnalyticsRange` does. */
export function exportAnalytics(
  services: { db: { sql: Sql }; clock: Clock },
  actor: Pick<Actor, 'workspaceId'>,
  { bom, ...range }: ExportAnalyticsQuery,
): AsyncGenerator<Buffer, void, undefined> {
  return markByteOrder(writeDays(services, actor, range), bom);
}

async function* writeDays(
  services: { db: { sql: Sql }; clock: Clock },
  actor: Pick<Actor, 'workspaceId'>,
  range: Omit<ExportAnalyticsQuery, 'bom'>,
): AsyncGenerator<Buffer, void, undefined> {
  const { stringify } = await import('csv-stringify/sync');
  const { days } = await readAnalyticsRange(services, actor, { ...range, compare: false });
  yield Buffer.from(stringify(days, { columns: COLUMNS, header: true, record_delimiter: '\r\n' }));
}
