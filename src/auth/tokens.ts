/** Tokens: opaque and random. All but those of links are known to the database only by their SHA-256. */
import { createHash, randomBytes } from 'node:crypto';

/**
 * What a token opens: `lns_` a session; `lnp_` one participant of a room; `lnr_` one recording, for its recorder; `lnb_`
 * one booking, to cancel it.
 */
export type TokenPrefix = 'lns_' | 'lnp_' | 'lnr_' | 'lnb_';

const TOKEN_BYTES = 32;

const TOKEN_REST = /^[A-Za-z0-9_-]{43}$/;

const LINK_TOKEN_BYTES = 24;

const LINK_TOKEN = /^[A-Za-z0-9_-]{32}$/;

/** A prefix and 256 random bits. */
export function createToken(prefix: TokenPrefix): string {
  return prefix + randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Whether a text can be such a token at all: what cannot is never asked of the database. */
export function isToken(prefix: TokenPrefix, text: string): boolean {
  return text.startsWith(prefix) && TOKEN_REST.test(text.slice(prefix.length));
}

export function hashToken(token: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(token).digest());
}

/** A secret for a link, 192 random bits. */
export function createLinkToken(): string {
  return randomBytes(LINK_TOKEN_BYTES).toString('base64url');
}

/** Whether a text can be the token of a link at all: what cannot is never asked of the database. */
export function isLinkToken(token: string): boolean {
  return LINK_TOKEN.test(token);
}
