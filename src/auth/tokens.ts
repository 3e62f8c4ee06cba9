/** Tokens: opaque and random. Those of sessions are known to the database only by their SHA-256. */
import { createHash, randomBytes } from 'node:crypto';

const SESSION_PREFIX = 'lns_';
const TOKEN_BYTES = 32;

/** `lns_` and 256 random bits. */
export const createSessionToken = (): string => SESSION_PREFIX + randomBytes(TOKEN_BYTES).toString('base64url');

const SESSION_TOKEN = /^lns_[A-Za-z0-9_-]{43}$/;

export const isSessionToken = (token: string): boolean => SESSION_TOKEN.test(token);

export const hashToken = (token: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(token).digest());

const LINK_TOKEN_BYTES = 24;

/** A secret for a link, 192 random bits. */
export const createLinkToken = (): string => randomBytes(LINK_TOKEN_BYTES).toString('base64url');

const LINK_TOKEN = /^[A-Za-z0-9_-]{32}$/;

/** Whether a text can be the token of a link at all: what cannot is never asked of the database. */
export const isLinkToken = (token: string): boolean => LINK_TOKEN.test(token);
