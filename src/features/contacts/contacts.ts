/**
 * Creating, updating and deleting contacts. Each of these locks the workspace first, then checks the actor's role.
 */
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { type Tx, transact } from '../../db/client.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { onlyRow } from '../../db/only-row.ts';
import { sqlIn } from '../../db/sql.ts';
import { countContacts, requireWithinQuota } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { contactColumns, toContact } from './present.ts';
import type { Contact, ContactInput, CreateContactInput, UpdateContactInput } from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** Creates a contact. Throws 409 if the workspace has a contact with this email address, or has reached its quota. */
export function createContact(
  services: Pick<Services, 'db' | 'clock' | 'settings'>,
  actor: Actor,
  { name, email }: CreateContactInput,
): Promise<Contact> {
  return write(services, actor, async (tx) => {
    const data = { workspaceId: actor.workspaceId, name, email, createdAt: services.clock.now() };
    const row = onlyRow(await tx.contact.createManyAndReturn({ data, select: contactColumns }));
    requireWithinQuota(services.settings.quotas, 'contacts', await countContacts(sqlIn(tx), actor.workspaceId));
    return toContact(row);
  });
}

/** Runs `work` in a transaction with the workspace locked. Throws 404, 403, and 409 if the email address is taken. */
async function write<Result>({ db }: Db, actor: Actor, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  try {
    return await transact(db, async (tx) => {
      await lockWorkspaceAs(tx, actor, 'admin');
      return work(tx);
    });
  } catch (error) {
    // The email address is the only unique key of contacts.
    if (isUniqueViolation(error)) throw conflict('A contact with this email already exists');
    throw error;
  }
}

/** Updates the fields that are sent. Throws 404, and 409 if another contact has the email address. */
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

/** Deletes a contact. Its events remain in the analytics, and bookings keep its name and email address. Throws 404. */
export function deleteContact(services: Db, actor: Actor, { contactId }: ContactInput): Promise<{ ok: true }> {
  return write(services, actor, async (tx) => {
    const { count } = await tx.contact.deleteMany({ where: { workspaceId: actor.workspaceId, id: contactId } });
    if (count === 0) throw notFound('Contact');
    return { ok: true };
  });
}
