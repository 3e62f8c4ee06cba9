import type { Actor } from '../../auth/identify.ts';
import { toUnixSeconds } from '../../core/time.ts';
import type { Services } from '../../services.ts';
import { type ContactCsvRow, writeContactsCsv } from './write-contacts-csv.ts';

const BATCH = 500;

/** All contacts of the workspace as CSV, oldest id first, read as fast as they are taken. */
export function exportContacts(
  services: Pick<Services, 'db'>,
  { workspaceId }: Actor,
): AsyncGenerator<Buffer, void, undefined> {
  return writeContactsCsv(allContacts(services, workspaceId));
}

/** Each batch is a short statement of its own: a slow reader holds no connection to the database. */
async function* allContacts({ db }: Pick<Services, 'db'>, workspaceId: number): AsyncGenerator<ContactCsvRow> {
  let after = 0;
  for (;;) {
    const rows = await db.contact.findMany({
      where: { workspaceId, id: { gt: after } },
      select: { id: true, name: true, email: true, createdAt: true },
      orderBy: { id: 'asc' },
      take: BATCH,
    });
    for (const { createdAt, ...row } of rows) yield { ...row, created_at: toUnixSeconds(createdAt) };
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH) return;
    after = last.id;
  }
}
