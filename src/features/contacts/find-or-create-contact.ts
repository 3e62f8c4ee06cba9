import type { Tx } from '../../db/client.ts';

export type NewContact = {
  workspaceId: number;
  name: string;
  /** Compared without regard to case. null: someone who did not give one. */
  email: string | null;
  at: Date;
};

/**
 * The id of the workspace's contact with this email address, who is created at `at` when new; null without an address, by
 * which alone someone could be recognised, and then nothing is written. One who is known keeps their name: whoever comes
 * with an address need not be who it belongs to. Calls at once make one contact. A new contact lets the workspace's next
 * writer wait for the commit: call it late in the transaction. Throws a foreign key violation for a workspace that was
 * deleted meanwhile.
 */
export async function findOrCreateContact(
  tx: Tx,
  { workspaceId, name, email, at }: NewContact,
): Promise<number | null> {
  const address = email?.trim().toLowerCase();
  if (!address) return null;
  const where = { workspaceId_email: { workspaceId, email: address } };
  const select = { id: true } as const;
  const known = await tx.contact.findUnique({ where, select });
  // Before the insert, which takes an id even where it only finds a conflict, and ids are 32-bit.
  if (known !== null) return known.id;
  const [added] = await tx.contact.createManyAndReturn({
    data: { workspaceId, name, email: address, createdAt: at },
    select,
    skipDuplicates: true,
  });
  return added?.id ?? (await tx.contact.findUniqueOrThrow({ where, select })).id;
}
