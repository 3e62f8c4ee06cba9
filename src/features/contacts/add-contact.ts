import { bool, int, nullable, type Sql, statement, text } from '../../db/statements.ts';
import type { Quotas } from '../../quotas/quotas.ts';
import { contactParams, contactParts } from './contact-parts.ts';

const addBooker = statement('add-contact-of-booking', {
  params: { workspaceId: int, name: text, address: nullable(text), bookingPageId: int, ...contactParams },
  returns: { isDone: bool },
  sql: `
    with people as (
      select $workspaceId as workspace_id, $address as address, $name as name, 0 as position
      where $address is not null),
    ${contactParts}
    insert into contact_events (workspace_id, type, contact_id, booking_page_id, created_at)
    select $workspaceId, 'booking', c.id, $bookingPageId, $at
    from (select) one left join contact c on true where $address is null or c.address is not null
    returning true as "isDone"`,
});

/**
 * Creates a contact for a guest who books a meeting, unless the workspace has one with this address, emits
 * `contact.created`, and records the booking for the analytics, in the caller's transaction. `address` is from
 * `toContactAddress`. Without an address, or when the workspace has reached its quota, the booking is that of an
 * unknown person. Later statements of the transaction find the contact by its address.
 *
 * Returns false if another transaction has just added the contact: roll back and retry. Call it with the workspace
 * locked against deletion.
 */
export async function addContactOfBooking(
  sql: Sql,
  quotas: Quotas,
  booking: { workspaceId: number; name: string; address: string | null; bookingPageId: number; at: Date },
): Promise<boolean> {
  return (await sql.run(addBooker, { ...booking, contactQuota: quotas.contacts })).length > 0;
}
