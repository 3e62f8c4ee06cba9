/** Stores the token of an invite link as a hash, by which it is found, and sealed, because it is shown again. */
import type { SealContext, Sealer } from '../core/sealing.ts';
import type { Database } from '../db/client.ts';
import { int, json, statement, text } from '../db/statements.ts';

/** What removes the link of a workspace. */
export const NO_INVITE = { inviteHash: null, sealedInvite: null, inviteToken: null, inviteCreatedBy: null };

/** `plain` is a mark, or a token that is not sealed yet. */
export type StoredInvite = { sealed: Uint8Array | null; plain: string | null };

/** Returns the token, or null if there is no link. */
export function openInvite(
  { sealer }: { sealer: Sealer },
  workspaceId: number,
  { sealed, plain }: StoredInvite,
): string | null {
  return sealed === null ? plain : sealer.open(sealed, inviteSeal(workspaceId));
}

export function inviteSeal(workspaceId: number): SealContext {
  return { owner: `workspace:${workspaceId}`, purpose: 'invite link' };
}

/** What processes of the previous version find instead of a token. It has the format of none. */
export function markOf(workspaceId: number): string {
  return `sealed ${workspaceId}`;
}

const BATCH = 500;

const readPlain = statement('read-plain-invites', {
  params: { after: int, max: int },
  returns: { id: int, token: text },
  sql: `
    select id, invite_token as token from workspaces
    where id > $after and invite_token is not null and sealed_invite is null order by id limit $max`,
});

type Sealed = { id: number; token: string; sealed: string; mark: string };

const replacePlain = statement('seal-plain-invites', {
  params: { invites: json<Sealed[]>('json') },
  sql: `
    update workspaces w set sealed_invite = decode(i.sealed, 'base64'), invite_token = i.mark
    from json_to_recordset($invites) as i (id int, token text, sealed text, mark text)
    where w.id = i.id and w.invite_token = i.token and w.sealed_invite is null`,
});

/** Seals the tokens that earlier versions have stored as they are. */
export async function sealInvites({ db, sealer }: { db: Database; sealer: Sealer }): Promise<void> {
  let after = 0;
  for (;;) {
    const rows = await db.sql.run(readPlain, { after, max: BATCH });
    const invites = rows.map(({ id, token }): Sealed => {
      const sealed = Buffer.from(sealer.seal(token, inviteSeal(id))).toString('base64');
      return { id, token, sealed, mark: markOf(id) };
    });
    if (invites.length > 0) await db.sql.run(replacePlain, { invites });
    if (rows.length < BATCH) return;
    after = rows.at(-1)?.id ?? after;
  }
}
