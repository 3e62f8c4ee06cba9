/** A user's account: making it, changing it, ending it. */
import type { Caller } from '../../auth/identify.ts';
import { hashPassword, isPassword } from '../../auth/passwords.ts';
import { badField, conflict, unauthorized } from '../../core/errors.ts';
import { isForeignKeyViolation, isUniqueViolation, transact } from '../../db/client.ts';
import { emit } from '../../events/emit.ts';
import type { Services } from '../../services.ts';
import { reassignBookingPages } from '../booking-pages/reassign-booking-pages.ts';
import { reassignRooms } from '../rooms/reassign-rooms.ts';
import { insertWorkspace } from '../workspaces/create-workspace.ts';
import type { RegisterInput, SignedIn, UpdateMeInput, User } from './schemas.ts';
import { startSession, toUser } from './sessions.ts';

/** Creates a user with their Personal workspace and signs them in. Throws 409 for an address that has an account. */
export async function register(services: Services, input: RegisterInput): Promise<SignedIn> {
  const passwordHash = await hashPassword(input.password);
  try {
    return await transact(services.db, async (tx) => {
      const createdAt = services.clock.now();
      const user = await tx.user.create({ data: { name: input.name, email: input.email, passwordHash, createdAt } });
      await insertWorkspace(tx, { name: 'Personal', ownerId: user.id, isPersonal: true, createdAt });
      return startSession(services, tx, user);
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw conflict('An account with this email address already exists');
    throw error;
  }
}

/** Changes what is sent. A new password needs the current one, and ends all sessions but the one of the call. */
export async function updateMe(
  { db }: Pick<Services, 'db'>,
  caller: Caller,
  sessionId: number,
  input: UpdateMeInput,
): Promise<User> {
  const data: { name?: string; passwordHash?: string } = {};
  if (input.name !== undefined) data.name = input.name;
  if (input.password !== undefined) {
    const current = await db.user.findUnique({ where: { id: caller.userId }, select: { passwordHash: true } });
    if (current === null) throw unauthorized();
    if (input.current_password === undefined)
      throw badField('current_password', 'current_password is required to set a new password');
    if (!(await isPassword(input.current_password, current.passwordHash)))
      throw badField('current_password', 'current_password is wrong');
    data.passwordHash = await hashPassword(input.password);
  }
  const [user] = await transact(db, async (tx) => {
    const changed = await tx.user.updateManyAndReturn({ where: { id: caller.userId }, data });
    // After the change, which waits for whoever is starting a session with the old password.
    if (data.passwordHash !== undefined)
      await tx.session.deleteMany({ where: { userId: caller.userId, NOT: { id: sessionId } } });
    return changed;
  });
  // The account was deleted meanwhile, and its sessions with it.
  if (!user) throw unauthorized();
  return toUser(user);
}

/**
 * Deletes the user with their Personal workspace and every workspace that has no other members. What they made
 * elsewhere stays, without an author; their rooms and booking pages there pass to the owners. Throws 409 while they own
 * a workspace with other members.
 */
export async function deleteMe({ db, clock }: Services, caller: Caller): Promise<{ ok: true }> {
  const refusal = conflict('Transfer or delete the workspaces that you own with other members first');
  try {
    await transact(db, async (tx) => {
      // Locked against joining, and against every other change of a member, which takes the workspace first too.
      const workspaces = await tx.$queryRaw<{ id: number; name: string; owner_id: number }[]>`
        select id, name, owner_id from workspaces
        where id in (select workspace_id from members where user_id = ${caller.userId})
        order by id for no key update`;
      const ids = workspaces.filter((workspace) => workspace.owner_id === caller.userId).map(({ id }) => id);
      const others = await tx.member.count({ where: { workspaceId: { in: ids }, NOT: { userId: caller.userId } } });
      if (others > 0) throw refusal;
      for (const workspace of workspaces.filter(({ id }) => !ids.includes(id))) {
        const { count } = await tx.member.deleteMany({ where: { workspaceId: workspace.id, userId: caller.userId } });
        // Removed from it while this waited for its row.
        if (count === 0) continue;
        await reassignRooms(tx, workspace.id, caller.userId, workspace.owner_id);
        await reassignBookingPages(tx, workspace.id, caller.userId, workspace.owner_id);
        await emit(tx, clock.now(), {
          type: 'member.left',
          workspaceId: workspace.id,
          data: {
            workspace_id: workspace.id,
            workspace_name: workspace.name,
            user_id: caller.userId,
            user_name: caller.name,
            reason: 'account_deleted',
          },
        });
      }
      await tx.workspace.deleteMany({ where: { id: { in: ids } } });
      await tx.user.deleteMany({ where: { id: caller.userId } });
    });
  } catch (error) {
    // They were given a workspace between the look and the delete.
    if (isForeignKeyViolation(error)) throw refusal;
    throw error;
  }
  return { ok: true };
}
