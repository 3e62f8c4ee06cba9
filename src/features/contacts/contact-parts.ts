import { secondsOf } from '../../db/columns.ts';
import { countForQuota } from '../../db/counters.ts';
import { int, time } from '../../db/statements.ts';

/**
 * Part of a statement that emits `contact.created` for each row of `added (workspace_id, id, name, email)`, at the time
 * `$at`.
 */
export const createdEvents = `
  contact_created as (
    insert into events (workspace_id, type, data, created_at, traceparent)
    select workspace_id, 'contact.created', jsonb_build_object('workspace_id', workspace_id, 'contact_id', id,
      'name', name, 'email', email, 'created_at', ${secondsOf('$at')}), $at, $traceparent
    from added order by id returning id)`;

/** The parameters of `contactParts`. A quota of 0 means no limit. */
export const contactParams = { contactQuota: int, at: time };

/**
 * Parts of a statement that finds the contacts of `people (workspace_id, address, name, position)`, who all belong to
 * one workspace, and creates those that are missing. `contact (address, id)` then has a row for each address. Emits
 * `contact.created` for each that it creates, before the statement reads `contact`. Concurrent statements create only
 * one contact for an address. Contacts are locked after everything that `people` reads.
 *
 * - While the workspace is at its quota, the ids of new people are null, so that they can still join and book.
 * - If another transaction has just added an address, this statement cannot see its contact, and `contact` has no row
 *   for it. The statement must then change nothing else for these people, and be run again.
 *
 * An existing contact keeps its name, because anyone can enter the address of somebody else. Existing contacts are
 * looked up first, because ids are 32-bit, and an insert that hits a conflict wastes one.
 */
export const contactParts = `
  known as (
    select c.id, c.email as address from (select distinct workspace_id, address from people) p
    join contacts c on c.workspace_id = p.workspace_id and c.email = p.address),
  missing as (
    select m.workspace_id, m.address, m.name, $contactQuota = 0 or row_number() over (order by m.address) + coalesce((
      select ${countForQuota('contacts', '$contactQuota')} from workspaces w
      where w.id = (select workspace_id from people limit 1)
    ), 0) <= $contactQuota as fits
    from (
      select distinct on (p.address) p.workspace_id, p.address, p.name from people p
      where not exists (select from known k where k.address = p.address) order by p.address, p.position) m),
  added as (
    insert into contacts (workspace_id, name, email, created_at)
    select m.workspace_id, m.name, m.address, $at from missing m where m.fits order by m.address
    on conflict (workspace_id, email) do nothing returning workspace_id, id, name, email),
  ${createdEvents},
  contact as (
    select id, address from known
    union all select a.id, a.email from added a, (select count(*) from contact_created) after_event
    union all select null, address from missing where not fits)`;

/** Returns the address by which a contact is known; null for a person without an address, who has no contact. */
export function toContactAddress(email: string | null): string | null {
  return email?.trim().toLowerCase() || null;
}
