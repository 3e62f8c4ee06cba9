import { hashToken, isToken } from '../../auth/tokens.ts';
import { notFound } from '../../core/errors.ts';
import { readSlug } from '../../core/slugs.ts';
import { transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { bytes, int, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { joinWithPass } from '../participants/join.ts';
import type { JoinAnswer } from '../participants/schemas.ts';
import type { ExchangeInput } from './schemas.ts';

const useLink = statement('use-link-of-pass', {
  params: { roomName: text, linkHash: bytes, now: time },
  returns: { passId: int },
  sql: `
    update room_passes q set link_hash = null from rooms r
    where q.link_hash = $linkHash and q.expires_at > $now
      and r.workspace_id = q.workspace_id and r.id = q.room_id and r.name = $roomName
    returning q.id as "passId"`,
});

/**
 * Exchanges the token of a link for the participant's own token, and joins the room. If the room refuses the person,
 * the link stays as it was. Throws 404 "Link not found" for one that has been used or replaced, has expired or is for
 * another room, and the errors of `joinRoom`.
 */
export async function exchangeLink(
  services: Pick<Services, 'db' | 'clock' | 'sealer' | 'settings' | 'livekitEgress'>,
  { roomName: sentName, token }: ExchangeInput,
): Promise<JoinAnswer> {
  const roomName = readSlug(sentName);
  if (roomName === null || !isToken('lnj_', token)) throw notFound('Link');
  const link = { roomName, linkHash: hashToken(token) };
  return transact(services.db, async (tx) => {
    const [pass] = await sqlIn(tx).run(useLink, { ...link, now: services.clock.now() });
    if (!pass) throw notFound('Link');
    return joinWithPass(services, tx, { roomName, passId: pass.passId });
  });
}
