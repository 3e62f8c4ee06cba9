/** The accounts at OpenID providers that users have linked. */

import type { Caller } from '../../auth/identify.ts';
import type { OpenidPerson } from '../../auth/openid-person.ts';
import type { OpenidProviders } from '../../auth/openid-providers.ts';
import { conflict, notFound } from '../../core/errors.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import { type Tx, transact } from '../../db/client.ts';
import { secondsOf } from '../../db/columns.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { sqlIn } from '../../db/sql.ts';
import { float, int, nullable, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { SessionCall } from '../auth/own-sessions.ts';
import { forgetProvider } from '../auth/proofs.ts';
import { lockSessionUser } from '../auth/session-user.ts';
import type { Client } from '../auth/sessions.ts';
import { type LockedUser, reportMethodChange, requireSignInMethod } from '../auth/sign-in-methods.ts';
import type { OpenidIdentity, OpenidIdentityInput } from './schemas.ts';

const MAX_IDENTITIES = 20;

const identitiesOf = pagedList('list-openid-identities', {
  order: byTime('i.created_at', 'i.id', 'asc'),
  params: { userId: int },
  returns: { id: int, issuer: text, email: nullable(text), created_at: float, last_used_at: float, ...timeKey },
  sql: ({ after, window }) => `
    select i.id, i.issuer, i.email, ${secondsOf('i.created_at')} as created_at,
      ${secondsOf('i.last_used_at')} as last_used_at, ${timeKeyOf('i.created_at')}
    from openid_identities i where i.user_id = $userId ${after} ${window}`,
});

/** Lists the linked accounts of a user, oldest first. */
export async function listIdentities(
  { db, openid }: Pick<Services, 'db' | 'openid'>,
  { userId }: Caller,
  page: ListPageInput,
): Promise<Page<OpenidIdentity>> {
  const { entries, next_cursor } = await readPage(db.sql, identitiesOf, { userId }, page, [userId]);
  return { entries: entries.map((entry) => ({ ...entry, provider: openid.findByIssuer(entry.issuer) })), next_cursor };
}

/**
 * Links an account at a provider to a user whose row is locked, and notifies the user by mail. Throws 409 if the user
 * already has the maximum number of linked accounts. Fails with a unique violation if the account is linked to another
 * user.
 */
export async function linkIdentity(
  services: Pick<Services, 'clock' | 'sealer' | 'openid'>,
  tx: Tx,
  user: LockedUser,
  person: OpenidPerson,
  client: Client,
): Promise<void> {
  await insertIdentity(services, tx, user.id, person);
  const name = nameOf(services.openid, person.issuer);
  await reportMethodChange(services, tx, user, { change: 'provider-linked', name, client });
}

/** Like `linkIdentity`, but for a new account. Sends no notification. */
export async function insertIdentity(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  userId: number,
  { issuer, subject, email }: OpenidPerson,
): Promise<void> {
  const linked = await tx.openidIdentity.count({ where: { userId } });
  if (linked >= MAX_IDENTITIES) throw conflict(`An account can have at most ${MAX_IDENTITIES} linked accounts`);
  const now = clock.now();
  await tx.openidIdentity.create({ data: { userId, issuer, subject, email, createdAt: now, lastUsedAt: now } });
}

const deleteIdentity = statement('delete-openid-identity', {
  params: { identityId: int, userId: int },
  returns: { issuer: text },
  sql: 'delete from openid_identities where id = $identityId and user_id = $userId returning issuer',
});

/**
 * Unlinks an account at a provider. Throws 401 SIGN_IN_EXPIRED if the session has ended, 404 "Identity not found", and
 * 409 if the user would have no way left to sign in.
 */
export function unlinkIdentity(
  services: Pick<Services, 'db' | 'clock' | 'sealer' | 'openid' | 'settings'>,
  { sessionId, client }: Pick<SessionCall, 'sessionId' | 'client'>,
  { identityId }: OpenidIdentityInput,
): Promise<{ ok: true }> {
  const { db, openid } = services;
  return transact(db, async (tx) => {
    const user = await lockSessionUser(services, tx, sessionId);
    const [identity] = await sqlIn(tx).run(deleteIdentity, { identityId, userId: user.id });
    if (identity === undefined) throw notFound('Identity');
    await requireSignInMethod(tx, user.id, openid);
    await forgetProvider(tx, user.id, identity.issuer);
    const name = nameOf(openid, identity.issuer);
    await reportMethodChange(services, tx, user, { change: 'provider-unlinked', name, client });
    return { ok: true };
  });
}

/** Returns the display name of the provider. */
function nameOf({ list, findByIssuer }: OpenidProviders, issuer: string): string {
  const providerId = findByIssuer(issuer);
  return list.find(({ id }) => id === providerId)?.name ?? issuer;
}
