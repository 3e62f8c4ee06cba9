/** Programs that register themselves, so that people can connect them (RFC 7591). They have no secret. */
import { z } from 'zod';
import { createLinkToken, isLinkToken } from '../../auth/tokens.ts';
import { tooManyRequests } from '../../core/errors.ts';
import { DAY_MS, HOUR_MS, toUnixSeconds } from '../../core/time.ts';
import { MAX_NAME_LENGTH, singleLineText } from '../../core/validation.ts';
import { runWrite } from '../../db/client.ts';
import { DELETE_BATCH, inBatches } from '../../db/in-batches.ts';
import { nullable, type RowOf, type Sql, statement, text, texts, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { OauthError } from './oauth-error.ts';
import { hostOf, isAllowedRedirect } from './redirect-uris.ts';

/** How long a registration lasts that nobody connects, and one that nobody connects any more. */
const UNUSED_MS = DAY_MS;
const FORGOTTEN_MS = 90 * DAY_MS;
/**
 * How many registrations of a network in a day may be connected by nobody, or no more. Concurrent calls may exceed it a
 * little.
 */
export const MAX_UNUSED_PER_NETWORK = 20;
const MAX_REDIRECTS = 10;
const MAX_REDIRECT_LENGTH = 2_000;
/** Of all addresses together, because a registration that was connected once is kept for long. */
const MAX_REDIRECTS_LENGTH = 4_000;

/** Other fields are ignored, such as links and logos, which nothing proves either. */
const Metadata = z.object({
  client_name: singleLineText(MAX_NAME_LENGTH).optional(),
  redirect_uris: z
    .array(z.string().max(MAX_REDIRECT_LENGTH))
    .min(1)
    .max(MAX_REDIRECTS)
    .refine((uris) => uris.join('').length <= MAX_REDIRECTS_LENGTH, {
      error: `redirect_uris may have at most ${MAX_REDIRECTS_LENGTH} characters together`,
    }),
  response_types: z.array(z.string()).max(10).optional(),
  grant_types: z.array(z.string()).max(10).optional(),
});

/** The response to a registration (RFC 7591 section 3.2.1). */
export type RegisteredClient = {
  client_id: string;
  client_id_issued_at: number;
  client_name: string;
  redirect_uris: string[];
  grant_types: string[];
  response_types: string[];
  token_endpoint_auth_method: 'none';
};

const insertClient = statement('register-oauth-client', {
  params: { id: text, name: text, redirectUris: texts, network: nullable(text), now: time, unusedSince: time },
  returns: { id: text },
  sql: `
    insert into oauth_clients (id, name, redirect_uris, network, created_at)
    select $id, $name, $redirectUris, $network, $now
    where $network::text is null or (
      select count(*) from oauth_clients c
      where network = $network and created_at > $unusedSince
        and not exists (select 1 from oauth_grants g where g.client_id = c.id)
    ) < ${MAX_UNUSED_PER_NETWORK}
    returning id`,
});

const findStatement = statement('find-oauth-client', {
  params: { id: text, unusedSince: time },
  returns: { id: text, name: text, redirect_uris: texts },
  sql: `
    select id, name, redirect_uris from oauth_clients
    where id = $id and (last_used_at is not null or created_at > $unusedSince)`,
});

export type OauthClient = RowOf<typeof findStatement>;

/**
 * Registers a program. `network` is where the call comes from; null if no limit applies to it. Throws 400 for wrong
 * metadata, and 429 if too many registrations of the network are unused.
 */
export async function registerClient(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  input: unknown,
  network: string | null,
): Promise<RegisteredClient> {
  const { redirectUris, name } = readMetadata(input);
  const now = clock.now();
  const client = { id: createLinkToken(), name, redirectUris, network, now };
  const [registered] = await db.sql.run(insertClient, { ...client, unusedSince: unusedSince(now) });
  if (registered === undefined) {
    const message = `At most ${MAX_UNUSED_PER_NETWORK} registrations of a network may be unused`;
    throw tooManyRequests(message, HOUR_MS / 1000);
  }
  return {
    client_id: registered.id,
    client_id_issued_at: toUnixSeconds(now),
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

function readMetadata(input: unknown): { redirectUris: string[]; name: string } {
  const { data, error } = Metadata.safeParse(input);
  if (data === undefined) throw new OauthError('invalid_client_metadata', error.issues[0]?.message ?? 'Bad request');
  const { redirect_uris: redirectUris, client_name: name, response_types: types = ['code'] } = data;
  if (!redirectUris.every(isAllowedRedirect)) {
    const message =
      'redirect_uris must be https, or http on localhost, 127.0.0.1 or [::1], without a fragment or spaces';
    throw new OauthError('invalid_redirect_uri', message);
  }
  const { grant_types: grants = ['authorization_code'] } = data;
  if (!types.includes('code') || !grants.includes('authorization_code'))
    throw new OauthError('invalid_client_metadata', 'Only the authorization code flow is supported');
  return { redirectUris, name: name || hostOf(redirectUris[0] ?? '') };
}

/** Finds a registration that has not ended. */
export async function findClient(sql: Sql, id: string, now: Date): Promise<OauthClient | null> {
  if (!isLinkToken(id)) return null;
  const [client] = await sql.run(findStatement, { id, unusedSince: unusedSince(now) });
  return client ?? null;
}

function unusedSince(now: Date): Date {
  return new Date(now.getTime() - UNUSED_MS);
}

/** Deletes the connections that have ended, the registrations that are not used, and from where the others came. */
export async function pruneApps({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const now = clock.now();
  const forgotten = new Date(now.getTime() - FORGOTTEN_MS);
  await inBatches(DELETE_BATCH, async (limit) => {
    const where = { expiresAt: { lte: now } };
    return (await runWrite(db, (tx) => tx.oauthGrant.deleteMany({ where, limit }))).count;
  });
  await inBatches(DELETE_BATCH, async (limit) => {
    const isOld = [{ lastUsedAt: null, createdAt: { lte: unusedSince(now) } }, { lastUsedAt: { lte: forgotten } }];
    const where = { grants: { none: {} }, OR: isOld };
    return (await runWrite(db, (tx) => tx.oauthClient.deleteMany({ where, limit }))).count;
  });
  await inBatches(DELETE_BATCH, async (limit) => {
    const where = { network: { not: null }, createdAt: { lte: unusedSince(now) } };
    return (await runWrite(db, (tx) => tx.oauthClient.updateMany({ where, data: { network: null }, limit }))).count;
  });
}
