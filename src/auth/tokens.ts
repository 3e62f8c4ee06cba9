/** Session tokens: opaque, random, and known to the database only by their SHA-256. */
import { createHash, randomBytes } from 'node:crypto';

const SESSION_PREFIX = 'lns_';
const TOKEN_BYTES = 32;

/** `lns_` and 256 random bits. */
export const createSessionToken = (): string => SESSION_PREFIX + randomBytes(TOKEN_BYTES).toString('base64url');

const SESSION_TOKEN = /^lns_[A-Za-z0-9_-]{43}$/;

export const isSessionToken = (token: string): boolean => SESSION_TOKEN.test(token);

export const hashToken = (token: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(token).digest());

/** A secret for a link, 192 random bits. */
export const createLinkToken = (): string => randomBytes(24).toString('base64url');
