import { createHmac } from 'node:crypto';
import { equalInConstantTime } from '../core/constant-time.ts';
import { forbidden } from '../core/errors.ts';
import type { Clock } from '../core/time.ts';
import { toUnixSeconds } from '../core/time.ts';
import { assertObjectKey, isObjectKey } from './object-key.ts';
import type { DownloadOptions } from './object-store.ts';

/** The access that a valid URL grants: to one object, with a fixed filename and type, displayed or saved. */
export type SignedGrant = { key: string; filename: string; contentType: string; isInline: boolean };

export type UrlSigner = {
  /**
   * `<origin>/files/<key>?expires=<unix seconds>&filename=...&type=...&signature=<base64url HMAC-SHA256>`, with
   * `disposition=inline` for a file that is displayed.
   */
  sign(key: string, options: DownloadOptions): string;
  /**
   * Verifies the part after `/files/` (percent-decoded) and the raw query string. Throws the same 403 for every URL
   * that is expired, altered or malformed, including missing, repeated and unknown parameters.
   */
  verify(key: string, query: string): SignedGrant;
};

const PARAMETERS = ['expires', 'filename', 'signature', 'type'];
const INLINE_PARAMETERS = ['disposition', ...PARAMETERS];
const MIN_SECRET_LENGTH = 16;

/**
 * Signs everything that affects the response with HMAC-SHA256. URLs that were signed with a previous secret are valid
 * too. Throws a RangeError if a secret is too short.
 */
export function createUrlSigner(secret: string, clock: Clock, previousSecrets: readonly string[] = []): UrlSigner {
  const secrets = [secret, ...previousSecrets];
  if (secrets.some(({ length }) => length < MIN_SECRET_LENGTH)) {
    throw new RangeError(`The signing secret must have at least ${MIN_SECRET_LENGTH} characters`);
  }

  // Encoded as a JSON array, so that different values never result in the same text. The first entry distinguishes this
  // use of the secret from others.
  const signatureOf = (key: string, grant: SignedGrant, expires: string): string =>
    createHmac('sha256', key)
      .update(
        JSON.stringify([
          grant.isInline ? 'display' : 'download',
          grant.key,
          expires,
          grant.filename,
          grant.contentType,
        ]),
      )
      .digest('base64url');

  return {
    sign(key, { filename, contentType, isInline = false, expiresInSeconds, origin }) {
      assertObjectKey(key);
      const grant = { key, filename: filename.toWellFormed(), contentType, isInline };
      const expires = String(toUnixSeconds(clock.now()) + Math.floor(expiresInSeconds));
      const signature = signatureOf(secret, grant, expires);
      const query = new URLSearchParams({ expires, filename: grant.filename, type: contentType, signature });
      if (isInline) query.set('disposition', 'inline');
      // A key has no characters that need escaping in a path.
      return `${origin.replace(/(?<!\/)\/+$/, '')}/files/${key}?${query}`;
    },

    verify(key, query) {
      const given = [...new URLSearchParams(query)];
      const { expires = '', filename = '', type = '', signature = '', disposition } = Object.fromEntries(given);
      const names = given.map(([name]) => name).sort();
      const isInline = disposition === 'inline';
      const expected = isInline ? INLINE_PARAMETERS : PARAMETERS;
      const isWellFormed = isObjectKey(key) && names.join() === expected.join() && /^[1-9]\d{0,14}$/.test(expires);
      const grant = { key, filename, contentType: type, isInline };
      // Compared as text, because several base64url strings decode to the same bytes, and only one was issued.
      const isSigned = secrets.some((one) => equalInConstantTime(signature, signatureOf(one, grant, expires)));
      if (!isWellFormed || !isSigned) throw forbidden();
      if (toUnixSeconds(clock.now()) >= Number(expires)) throw forbidden();
      return grant;
    },
  };
}
