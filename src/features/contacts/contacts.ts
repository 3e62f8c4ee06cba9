/**
 * Creates, updates and deletes contacts. Each change locks the workspace first, then checks the actor's role. Creating
 * a contact takes only shared locks, so that concurrent creations do not wait for one another.
 */
import { auditParams, insertAuditFrom, toAuditParams } from '../../audit/audit-statements.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { conflict, forbidden, notFound } from '../../core/errors.ts';
import { isAtLeast, toRole } from '../../core/roles.ts';
import { type Tx, transact } from '../../db/client.ts';
import { countForQuota } from '../../db/counters.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { onlyRow } from '../../db/only-row.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, int, nullable, statement, text, time } from '../../db/statements.ts';
import { requireWithinQuota } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { createdEvents } from './contact-parts.ts';
import { contactColumns, toContact } from './present.ts';
import type { Contact, ContactInput, CreateContactInput, UpdateContactInput } from './schemas.ts';

type Db = Pick<Services, 'db'>;

/**
 * Locks the workspace, then the member. After waiting for a lock, PostgreSQL reads the row again, so a concurrent role
 * change takes effect entirely before or entirely after this statement.
 */
const insertContact = statement('create-contact', {
  params: { workspaceId: int, userId: int, name: text, email: text, at: time, quota: int },
  returns: { contacts: nullable(int), role: nullable(text), is_taken: bool, id: nullable(int) },
  hasChanged: ([row]) => row?.id != null,
  sql: `
    with workspace as (
      select w.id, ${countForQuota('contacts', '$quota')} as contacts from workspaces w
      where w.id = $workspaceId for key share),
    member as (
      select m.role from workspace w join members m on m.workspace_id = w.id and m.user_id = $userId for share of m),
    taken as (select id from contacts where workspace_id = $workspaceId and email = $email),
    added as (
      insert into contacts (workspace_id, name, email, created_at)
      select w.id, $name, $email, $at from workspace w, member m
      where m.role in ('owner', 'admin') and ($quota = 0 or w.contacts < $quota) and not exists (select from taken)
      on conflict (workspace_id, email) do nothing returning workspace_id, id, name, email),
    ${createdEvents}
    select (select contacts from workspace) as contacts, (select role from member) as role,
      exists (select from taken) as is_taken, (select id from added) as id`,
});

/** The audit entry contains neither name nor email address, because the contact may be deleted to erase the person. */
const removeContact = statement('delete-contact', {
  params: { workspaceId: int, contactId: int, ...auditParams },
  returns: { id: int },
  sql: `
    with deleted as (delete from contacts where workspace_id = $workspaceId and id = $contactId returning id),
    audited as (${insertAuditFrom('deleted', {
      target: 'contact',
      action: 'contact.deleted',
      targetId: 'id',
      details: "'{}'::json",
    })})
    select id from deleted`,
});

/**
 * Creates a contact and emits `contact.created`, in one statement. Throws 404 if the workspace was deleted, 403 if the
 * actor is not owner or admin, and 409 if the workspace has a contact with this email address or has reached its quota.
 */
export async function createContact(
  { db, clock, settings: { quotas } }: Pick<Services, 'db' | 'clock' | 'settings'>,
  { workspaceId, userId }: Actor,
  { name, email }: CreateContactInput,
): Promise<Contact> {
  const at = clock.now();
  const contact = { workspaceId, name, email };
  const rows = await db.sql.run(insertContact, { ...contact, at, userId, quota: quotas.contacts });
  const { contacts, role, is_taken, id } = onlyRow(rows);
  if (contacts === null) throw notFound('Workspace');
  if (role === null || !isAtLeast(toRole(role), 'admin')) throw forbidden();
  if (id !== null) return toContact({ ...contact, createdAt: at, id });
  if (!is_taken) requireWithinQuota(quotas, 'contacts', contacts + 1);
  // The address already had a contact, or a concurrent call has added it.
  throw emailConflict();
}

function emailConflict() {
  return conflict('A contact with this email already exists');
}

/**
 * Runs `work` in a transaction with the workspace locked. Throws 404 or 403, and throws 409 if another contact has the
 * email address.
 */
async function write<Result>({ db }: Db, actor: Actor, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  try {
    return await transact(db, async (tx) => {
      await lockWorkspaceAs(tx, actor, 'admin');
      return work(tx);
    });
  } catch (error) {
    // The email address is the only unique key of contacts.
    if (isUniqueViolation(error)) throw emailConflict();
    throw error;
  }
}

/** Updates only the fields that are sent. Throws 404, and throws 409 if another contact has the email address. */
export function updateContact(
  services: Db,
  actor: Actor,
  { contactId, name, email }: UpdateContactInput,
): Promise<Contact> {
  return write(services, actor, async (tx) => {
    const data = { ...(name !== undefined && { name }), ...(email !== undefined && { email }) };
    const where = { workspaceId: actor.workspaceId, id: contactId };
    const [row] =
      name === undefined && email === undefined
        ? await tx.contact.findMany({ where, select: contactColumns })
        : await tx.contact.updateManyAndReturn({ where, data, select: contactColumns });
    if (!row) throw notFound('Contact');
    return toContact(row);
  });
}

/**
 * Deletes a contact. The analytics still count its events, and bookings keep its name and email address. Throws 404.
 */
export function deleteContact(
  services: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { contactId }: ContactInput,
): Promise<{ ok: true }> {
  return write(services, actor, async (tx) => {
    const audit = toAuditParams(auditActorOf(actor), services.clock.now());
    const rows = await sqlIn(tx).run(removeContact, { workspaceId: actor.workspaceId, contactId, ...audit });
    if (rows.length === 0) throw notFound('Contact');
    return { ok: true };
  });
}
