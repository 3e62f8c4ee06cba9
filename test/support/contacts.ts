/** Adds contacts as joining and booking do, without anything else. */
import { int, json, nullable, type Sql, statement, text } from '../../src/db/statements.ts';
import { toContactAddress } from '../../src/features/contacts/contact-address.ts';
import { contactParams, contactParts } from '../../src/features/contacts/contact-parts.ts';
import type { Quotas } from '../../src/quotas/quotas.ts';

export type NewPerson = {
  name: string;
  /** Case-insensitive. null if the person did not give one. */
  email: string | null;
};

export type NewContact = NewPerson & { workspaceId: number; at: Date };

const MAX_TRIES = 10;

const findOrCreateAll = statement('test-find-or-create-contacts', {
  params: { workspaceId: int, people: json<{ address: string; name: string; position: number }[]>(), ...contactParams },
  returns: { address: text, id: nullable(int) },
  sql: `
    with people as (
      select $workspaceId as workspace_id, p.address, p.name, p.position
      from jsonb_to_recordset($people) as p (address text, name text, position int)),
    ${contactParts}
    select address, id from contact`,
});

/** Returns the id of the contact of one person, as `findOrCreateContacts` does; null without an address. */
export async function findOrCreateContact(
  sql: Sql,
  quotas: Quotas,
  { workspaceId, at, ...person }: NewContact,
): Promise<number | null> {
  const [id = null] = await findOrCreateContacts(sql, quotas, { workspaceId, at }, [person]);
  return id;
}

/**
 * Returns the ids of the contacts of these people, in their order, by the rules of `contactParts`. The id is null
 * without an address, because only an address identifies a contact. Unless the workspace is locked, call this once in a
 * transaction: several calls could deadlock with those of another transaction. Throws a foreign key violation if the
 * workspace was deleted.
 */
export async function findOrCreateContacts(
  sql: Sql,
  quotas: Quotas,
  { workspaceId, at }: { workspaceId: number; at: Date },
  people: readonly NewPerson[],
): Promise<(number | null)[]> {
  const ids = new Map<string, number | null>();
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const missing = people.flatMap(({ name, email }, position) => {
      const address = toContactAddress(email);
      return address === null || ids.has(address) ? [] : [{ address, name, position }];
    });
    if (missing.length === 0) return people.map(({ email }) => ids.get(toContactAddress(email) ?? '') ?? null);
    const values = { workspaceId, people: missing, at, contactQuota: quotas.contacts };
    for (const { address, id } of await sql.run(findOrCreateAll, values)) ids.set(address, id);
  }
  throw new Error(`Contacts were not found or created in ${MAX_TRIES} tries`);
}
