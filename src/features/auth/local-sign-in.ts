/**
 * Links that sign the person at the machine that runs the service in to the demo account. `npm start` and
 * `lynxroom open` print them. `runtime/local-sign-in-page.ts` decides who may use them.
 */
import { createAccountToken, endAccountTokens, takeAccountToken } from '../../auth/account-tokens.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Services } from '../../services.ts';
import type { SignedIn } from './schemas.ts';
import { type Client, startSession } from './sessions.ts';
import { uselessLink } from './verify-email.ts';

const LIFETIME_MS = 10 * MINUTE_MS;
const purposes = ['local_sign_in'] as const;

/** Where the page is. The token is in the fragment, which browsers do not send. */
export const LOCAL_SIGN_IN = '/open';

/**
 * Returns the path of a new link for the account with this address, which works once within ten minutes; null if there
 * is no such account. If many links are valid, the earlier ones end.
 */
export async function createLocalLink(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  address: string,
): Promise<string | null> {
  return transact(db, async (tx) => {
    const sql = sqlIn(tx);
    const user = await tx.user.findUnique({ where: { email: address }, select: { id: true } });
    if (user === null) return null;
    const now = clock.now();
    const times = { now, expiresAt: new Date(now.getTime() + LIFETIME_MS) };
    const link = { purpose: purposes[0], userId: user.id, address };
    let token = await createAccountToken(sql, link, times);
    if (token === null) {
      await endAccountTokens(sql, { userId: user.id, address }, purposes);
      token = await createAccountToken(sql, link, times);
    }
    return token === null ? null : `${LOCAL_SIGN_IN}#token=${token}`;
  });
}

/** Starts a session with a link. Throws 400 if the link was used, has expired or never was, or the account is gone. */
export function signInLocally(
  services: Pick<Services, 'db' | 'clock' | 'sealer' | 'settings'>,
  token: string,
  client: Client,
): Promise<SignedIn> {
  return transact(services.db, async (tx) => {
    const taken = await takeAccountToken(sqlIn(tx), token, purposes, services.clock.now());
    const user = taken?.userId != null && (await tx.user.findUnique({ where: { id: taken.userId, lockedAt: null } }));
    if (!user) throw uselessLink();
    return startSession(services, tx, user, { ...client, method: 'local_link' });
  });
}
