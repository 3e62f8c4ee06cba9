import type { Tx } from '../../db/client.ts';

export type NewContact = {
  workspaceId: number;
  name: string;
  /** Case-insensitive. null if the person did not give one. */
  email: string | null;
  at: Date;
};

/**
 * Returns the id of the workspace's contact with this email address, and creates the contact if there is none. Without
 * an address it creates nothing and returns null, because only an address identifies a contact. Concurrent calls create
 * one contact.
 *
 * An existing contact keeps its name, because anyone can enter the address of somebody else. Creating a contact blocks
 * other transactions that create one in the workspace until the commit, so call it late in the transaction. Throws a
 * foreign key violation if the workspace was deleted.
 */
export async function findOrCreateContact(
  tx: Tx,
  { workspaceId, name, email, at }: NewContact,
): Promise<number | null> {
  const address = email?.trim().toLowerCase();
  if (!address) return null;
  const where = { workspaceId_email: { workspaceId, email: address } };
  const select = { id: true } as const;
  // This lookup avoids wasting ids, which are 32-bit: an insert that hits a conflict still consumes one.
  const existing = await tx.contact.findUnique({ where, select });
  if (existing !== null) return existing.id;
  const [added] = await tx.contact.createManyAndReturn({
    data: { workspaceId, name, email: address, createdAt: at },
    select,
    skipDuplicates: true,
  });
  return added?.id ?? (await tx.contact.findUniqueOrThrow({ where, select })).id;
}
