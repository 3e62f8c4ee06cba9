/** The passkeys of a user. */
import type { Caller } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { runWrite, transact } from '../../db/client.ts';
import { flagOf, secondsOf } from '../../db/columns.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { sqlIn } from '../../db/sql.ts';
import { float, int, nullable, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { SessionCall } from '../auth/own-sessions.ts';
import { lockSessionUser } from '../auth/session-user.ts';
import { reportMethodChange, requireSignInMethod } from '../auth/sign-in-methods.ts';
import type { Passkey, PasskeyInput, RenamePasskeyInput } from './schemas.ts';

type PasskeyRow = { id: number; name: string; isBackedUp: boolean; createdAt: Date; lastUsedAt: Date | null };

export function toPasskey(row: PasskeyRow): Passkey {
  return {
    id: row.id,
    name: row.name,
    is_backed_up: row.isBackedUp ? 1 : 0,
    created_at: toUnixSeconds(row.createdAt),
    last_used_at: row.lastUsedAt && toUnixSeconds(row.lastUsedAt),
  };
}

const passkeysOf = pagedList('list-passkeys', {
  order: byTime('p.created_at', 'p.id', 'asc'),
  params: { userId: int },
  returns: {
    id: int,
    name: text,
    is_backed_up: int,
    created_at: float,
    last_used_at: nullable(float),
    ...timeKey,
  },
  sql: ({ after, window }) => `
    select p.id, p.name, ${flagOf('p.is_backed_up')} as is_backed_up, ${secondsOf('p.created_at')} as created_at,
      ${secondsOf('p.last_used_at')} as last_used_at, ${timeKeyOf('p.created_at')}
    from passkeys p where p.user_id = $userId ${after} ${window}`,
});

/** Lists the passkeys of a user, oldest first. */
export function listPasskeys(
  { db }: Pick<Services, 'db'>,
  { userId }: Caller,
  page: ListPageInput,
): Promise<Page<Passkey>> {
  return readPage(db.sql, passkeysOf, { userId }, page, [userId]);
}

/** Renames a passkey. Throws 404 "Passkey not found". */
export async function renamePasskey(
  { db }: Pick<Services, 'db'>,
  { userId }: Caller,
  { passkeyId, name }: RenamePasskeyInput,
): Promise<Passkey> {
  const [renamed] = await runWrite(db, (tx) =>
    tx.passkey.updateManyAndReturn({ where: { id: passkeyId, userId }, data: { name } }),
  );
  if (renamed === undefined) throw notFound('Passkey');
  return toPasskey(renamed);
}

const removeStatement = statement('delete-passkey', {
  params: { passkeyId: int, userId: int },
  returns: { name: text },
  sql: 'delete from passkeys where id = $passkeyId and user_id = $userId returning name',
});

/**
 * Removes a passkey. Throws 401 SIGN_IN_EXPIRED if the session has ended, 404 "Passkey not found", and 409 if the user
 * would have no way left to sign in.
 */
export function removePasskey(
  services: Pick<Services, 'db' | 'clock' | 'sealer' | 'openid' | 'settings'>,
  { sessionId, client }: Pick<SessionCall, 'sessionId' | 'client'>,
  { passkeyId }: PasskeyInput,
): Promise<{ ok: true }> {
  const { db, openid } = services;
  return transact(db, async (tx) => {
    const user = await lockSessionUser(services, tx, sessionId);
    const [removed] = await sqlIn(tx).run(removeStatement, { passkeyId, userId: user.id });
    if (removed === undefined) throw notFound('Passkey');
    await requireSignInMethod(tx, user.id, openid);
    await reportMethodChange(services, tx, user, { change: 'passkey-removed', name: removed.name, client });
    return { ok: true };
  });
}
