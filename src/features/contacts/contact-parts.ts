import { secondsOf } from '../../db/columns.ts';
import { countForQuota } from '../../db/counters.ts';
import { int, time } from '../../db/statements.ts';
import { insertEvent } from '../../events/insert-event.ts';

/**
 * SQL common table expression that emits `contact.created` at `$at` for each row of `added (workspace_id, id, name,
 * email)`.
 */
export const createdEvents = `
  contact_created as (${insertEvent(
    'contact.created',
    { workspace_id: 'workspace_id', contact_id: 'id', name: 'name', email: 'email', created_at: secondsOf('$at') },
    { from: 'added order by id', at: '$at' },
  )} returning id)`;

/** The parameters of `contactParts`. A quota of 0 means no limit. */
export const contactParams = { contactQuota: int, at: time };

/**
 * SQL common table expressions that find the contacts of `people (workspace_id, address, name, position)` and create
 * the missing contacts. All people must belong to one workspace. The result `contact (address, id)` has a row for each
 * address. Emits `contact.created` for each new contact. Other parts of the statement get the rows of `contact` only
 * after that, so events that they insert have higher numbers. Concurrent statements create only one contact for an
 * address. The statement locks contacts last, after all rows that `people` reads.
 *
 * - When the workspace has reached its quota, the IDs of new people are null, so that they can still join and book.
 * - If another transaction has just added an address, this statement cannot see the new contact, and `contact` has no
 *   row for the address. The statement must then change nothing else for these people, and must be retried.
 *
 * An existing contact keeps its name, because anyone can enter the address of another person. Existing contacts are
 * looked up first, because an insert that hits a conflict wastes an ID, and IDs are 32-bit.
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
