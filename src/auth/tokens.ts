/**
 * Random tokens. The database stores only their SHA-256 hash. The tokens of invite links, bookings and signed-in
 * participants are also stored sealed. The address for a meeting provider's callbacks is stored as it is: it grants
 * nothing without the provider's signature.
 */
import { createHash, randomBytes } from 'node:crypto';

/**
 * What a token is for: `lns_` for a session, `lnp_` for a participant of a room, `lnr_` for uploading a recording,
 * `lnb_` for a booking, `lnm_` for a link that was sent by mail, `lnc_` for a calendar feed, `lnj_` for a link that
 * lets a person into a room, `lne_` for a part of a workspace in a page of another product. A connected app has `lng_`
 * for its authorization code, `lna_` for access tokens and `lnf_` for refresh tokens.
 */
export type TokenPrefix =
  | 'lns_'
  | 'lnp_'
  | 'lnr_'
  | 'lnb_'
  | 'lnm_'
  | 'lnc_'
  | 'lnj_'
  | 'lne_'
  | 'lng_'
  | 'lna_'
  | 'lnf_';

const TOKEN_BYTES = 32;

const TOKEN_BODY = /^[A-Za-z0-9_-]{43}$/;

const LINK_TOKEN_BYTES = 24;

const LINK_TOKEN = /^[A-Za-z0-9_-]{32}$/;

/** Creates a token that consists of a prefix and 256 random bits. */
export function createToken(prefix: TokenPrefix): string {
  return prefix + randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Whether a string has the format of such a token. Other strings are rejected without a query. */
export function isToken(prefix: TokenPrefix, text: string): boolean {
  return text.startsWith(prefix) && TOKEN_BODY.test(text.slice(prefix.length));
}

export function hashToken(token: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(token).digest());
}

/** Creates a token for a link, with 192 random bits. */
export function createLinkToken(): string {
  return randomBytes(LINK_TOKEN_BYTES).toString('base64url');
}

/** Whether a string has the format of a link token. Other strings are rejected without a query. */
export function isLinkToken(token: string): boolean {
  return LINK_TOKEN.test(token);
}
