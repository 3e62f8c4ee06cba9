/** Whom another member has removed: neither the account nor its address comes back by the domain of the address. */
import { removedAddressIn } from '../../core/removed-address.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, statement, time } from '../../db/statements.ts';

type Membership = { workspaceId: number; userId: number };

const params = { workspaceId: int, userId: int };

const bar = statement('bar-removed-member', {
  params: { ...params, at: time },
  sql: `
    insert into removed_members (workspace_id, address_hash, user_id, removed_at)
    select w.id, ${removedAddressIn('w.id', 'u.email')}, u.id, $at from workspaces w, users u
    where w.id = $workspaceId and u.id = $userId
    on conflict (workspace_id, address_hash)
      do update set user_id = excluded.user_id, removed_at = excluded.removed_at`,
});

/** Keeps a removed member from coming back on their own. The workspace must be locked. */
export async function barRemoved(tx: Tx, { workspaceId, userId }: Membership, at: Date): Promise<void> {
  await sqlIn(tx).run(bar, { workspaceId, userId, at });
}

const forget = statement('readmit-removed-member', {
  params,
  sql: `
    delete from removed_members r using workspaces w, users u
    where w.id = $workspaceId and u.id = $userId and r.workspace_id = w.id
      and (r.user_id = u.id or r.user_id is null and r.address_hash = ${removedAddressIn('w.id', 'u.email')})`,
});

/** Forgets that somebody was removed, once they have been invited. The workspace must be locked, as for joining. */
export async function readmit(tx: Tx, { workspaceId, userId }: Membership): Promise<void> {
  await sqlIn(tx).run(forget, { workspaceId, userId });
}
