import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { countContacts, type Quotas } from '../../quotas/quotas.ts';

const select = { id: true, email: true } as const;

export type NewPerson = {
  name: string;
  /** Case-insensitive. null if the person did not give one. */
  email: string | null;
};

export type NewContact = NewPerson & { workspaceId: number; at: Date };

/** Returns the id of the contact of one person, as `findOrCreateContacts` does; null without an address. */
export async function findOrCreateContact(
  tx: Tx,
  quotas: Quotas,
  { workspaceId, at, ...person }: NewContact,
): Promise<number | null> {
  const [id = null] = await findOrCreateContacts(tx, quotas, { workspaceId, at }, [person]);
  return id;
}

/**
 * Returns the ids of the workspace's contacts with these email addresses, in the order of the people, and creates those
 * that are missing. Without an address it creates nothing and the id is null, because only an address identifies a
 * contact. Concurrent calls create one contact for an address. While the workspace has reached its quota, the ids of
 * new people are null, so that they can still join and book.
 *
 * An existing contact keeps its name, because anyone can enter the address of somebody else. Creating a contact blocks
 * other transactions that create one with the same address until the commit. Unless the
 * workspace is locked, call this once in a transaction: several calls could wait for those of another transaction in a
 * circle. Throws a foreign key violation if the workspace was
 * deleted.
 */
export async function findOrCreateContacts(
  tx: Tx,
  quotas: Quotas,
  { workspaceId, at }: { workspaceId: number; at: Date },
  people: readonly NewPerson[],
): Promise<(number | null)[]> {
  const names = new Map(people.map(({ name, email }) => [toAddress(email), name] as const).reverse());
  names.delete(null);
  const addresses = [...names.keys()].filter((address) => address !== null);
  if (addresses.length === 0) return people.map(() => null);
  const ids = new Map<string | null, number>();
  const find = async (emails: string[]): Promise<void> => {
    const where = { workspaceId, email: { in: emails } };
    for (const { id, email } of await tx.contact.findMany({ where, select })) ids.set(email, id);
  };
  const listMissing = (): string[] => addresses.filter((address) => !ids.has(address));

  // This lookup avoids wasting ids, which are 32-bit: an insert that hits a conflict still consumes one.
  await find(addresses);
  if (listMissing().length > 0) {
    const free = quotas.contacts === 0 ? Infinity : quotas.contacts - (await countContacts(sqlIn(tx), workspaceId));
    // Sorted, so that concurrent calls do not wait for each other's addresses in a circle.
    const added = listMissing().slice(0, Math.max(0, free)).sort();
    const data = added.map((email) => ({ workspaceId, name: names.get(email) ?? email, email, createdAt: at }));
    const rows = await tx.contact.createManyAndReturn({ data, select, skipDuplicates: true });
    for (const { id, email } of rows) ids.set(email, id);
  }
  // These exceed the quota, or another transaction has added them in the meantime.
  if (listMissing().length > 0) await find(listMissing());
  return people.map(({ email }) => ids.get(toAddress(email)) ?? null);
}

function toAddress(email: string | null): string | null {
  return email?.trim().toLowerCase() || null;
}
