import type { Tx } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { insertWorkspace } from '../workspaces/create-workspace.ts';

type NewUser = {
  name: string;
  email: string;
  passwordHash: string | null;
  emailVerifiedAt: Date | null;
  /** The account then works once the address is confirmed. */
  admittedByDomain: boolean;
};

/** Creates a user with their Personal workspace. Throws a unique violation if an account has this address. */
export async function createUser({ clock }: Pick<Services, 'clock'>, tx: Tx, newUser: NewUser) {
  const createdAt = clock.now();
  const user = await tx.user.create({ data: { ...newUser, createdAt } });
  await insertWorkspace(tx, { name: 'Personal', ownerId: user.id, isPersonal: true, createdAt });
  return user;
}
