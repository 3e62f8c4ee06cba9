import { insertAccountEvent } from '../../audit/account-events.ts';
import type { Caller } from '../../auth/identify.ts';
import { unauthorized } from '../../core/errors.ts';
import type { Services } from '../../services.ts';
import * as scans from './account-scans.ts';
import { writeDocument } from './document.ts';
import { scan } from './scan.ts';

/**
 * Exports everything that belongs to the account as one JSON document, and records the export in the account's log.
 * Reads from the database only as fast as the caller consumes the document. Throws 401 if the account has been deleted.
 */
export async function exportAccount(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { userId, address }: Caller,
): Promise<AsyncGenerator<Buffer, void, undefined>> {
  const read = (statement: Parameters<typeof scan<{ userId: number }>>[1]) => scan(db.sql, statement, { userId });
  // Must run before the account is read, because it waits for a deletion in progress.
  await insertAccountEvent(db.sql, { userId, at: clock.now(), action: 'data_exported', address });
  const { value: [account] = [] } = await read(scans.account).next();
  if (account === undefined) throw unauthorized();
  return writeDocument([
    ['account', account],
    ['sessions', read(scans.sessions)],
    ['known_devices', read(scans.knownDevices)],
    ['second_factor', read(scans.secondFactor)],
    ['openid_identities', read(scans.openidIdentities)],
    ['passkeys', read(scans.passkeys)],
    ['memberships', read(scans.memberships)],
    ['invitations', read(scans.invitations)],
    ['api_keys', read(scans.apiKeys)],
    ['connected_apps', read(scans.connectedApps)],
    ['rooms', read(scans.rooms)],
    ['booking_pages', read(scans.bookingPages)],
    ['labels', read(scans.labels)],
    ['library_items', read(scans.libraryItems)],
    ['trash_entries', read(scans.trashEntries)],
    ['webhooks', read(scans.webhooks)],
    ['connections', read(scans.connections)],
    ['visits', read(scans.visits)],
    ['mail', read(scans.mail)],
    ['log', read(scans.log)],
    ['audit_entries', read(scans.auditEntries)],
  ]);
}
