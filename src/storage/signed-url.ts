import { createHmac } from 'node:crypto';
import { equalInConstantTime } from '../core/constant-time.ts';
import { forbidden } from '../core/errors.ts';
import type { Clock } from '../core/time.ts';
import { toUnixSeconds } from '../core/time.ts';
import { assertObjectKey, isObjectKey } from './object-key.ts';
import type { DownloadOptions } from './object-store.ts';

/** What a valid URL grants: one object, under one name and one type. */
export type SignedGrant = { key: string; filename: string; contentType: string };

export type UrlSigner = {
  /** `<origin>/files/<key>?expires=<unix seconds>&filename=...&type=...&signature=<base64url HMAC-SHA256>`. */
  sign(key: string, options: DownloadOptions): string;
  /**
   * Reads the part after `/files/` (percent-decoded) and the raw query string. Throws one and the same 403 for a URL
   * that is expired, altered or malformed, also by a parameter that is missing, repeated or not ours.
   */
  verify(key: string, query: string): SignedGrant;
};

const PARAMETERS = ['expires', 'filename', 'signature', 'type'];
const MIN_SECRET_LENGTH = 16;

/** Signs with HMAC-SHA256 over everything that shapes the answer. Throws a RangeError for a secret that is guessable. */
export function createUrlSigner(secret: string, clock: Clock): UrlSigner {
  if (secret.length < MIN_SECRET_LENGTH) {
    throw new RangeError(`The signing secret must have at least ${MIN_SECRET_LENGTH} characters`);
  }

  // A JSON array is unambiguous: no value can spill into its neighbour. The first entry keeps the secret's other uses apart.
  const signatureOf = (grant: SignedGrant, expires: string): string =>
    createHmac('sha256', secret)
      .update(JSON.stringify(['download', grant.key, expires, grant.filename, grant.contentType]))
      .digest('base64url');

  return {
    sign(key, { filename, contentType, expiresInSeconds, origin }) {
      assertObjectKey(key);
      const grant = { key, filename: filename.toWellFormed(), contentType };
      const expires = String(toUnixSeconds(clock.now()) + Math.floor(expiresInSeconds));
      const signature = signatureOf(grant, expires);
      const query = new URLSearchParams({ expires, filename: grant.filename, type: contentType, signature });
      // A key holds no character that a path would have to escape.
      return `${origin.replace(/\/+$/, '')}/files/${key}?${query}`;
    },

    verify(key, query) {
      const given = [...new URLSearchParams(query)];
      const { expires = '', filename = '', type = '', signature = '' } = Object.fromEntries(given);
      const names = given.map(([name]) => name).sort();
      const wellFormed = isObjectKey(key) && names.join() === PARAMETERS.join() && /^[1-9]\d{0,14}$/.test(expires);
      const grant = { key, filename, contentType: type };
      // Compared as text: base64url has several spellings of the same bytes, and only one was issued.
      if (!wellFormed || !equalInConstantTime(signature, signatureOf(grant, expires))) throw forbidden();
      if (toUnixSeconds(clock.now()) >= Number(expires)) throw forbidden();
      return grant;
    },
  };
}
