/** Verifies callbacks: digests, constant-time comparison and signed tokens. */
import { createHash } from 'node:crypto';
import type { JWTPayload, JWTVerifyOptions } from 'jose';
import { equalInConstantTime } from '../../../core/constant-time.ts';
import { type Callback, UnverifiedCallback } from './provider-adapter.ts';
import { readHeader } from './read.ts';

/** The requirements for a token besides its signature. The token must be valid at `now`. */
export type TokenRules = Pick<JWTVerifyOptions, 'clockTolerance' | 'issuer' | 'maxTokenAge' | 'requiredClaims'> & {
  now: Date;
};

/**
 * Only HS256 is accepted: otherwise the sender could choose "none" or a different kind of key (RFC 8725, section 3.1).
 */
const ALGORITHMS = ['HS256'];

export function sha256(body: Buffer, encoding: 'hex' | 'base64'): string {
  return createHash('sha256').update(body).digest(encoding);
}

/**
 * Verifies the JSON Web Token in the Authorization header, with or without "Bearer", and returns its claims. Throws
 * UnverifiedCallback unless the token is signed with HS256 and one of the secrets, and meets the rules.
 */
export async function verifyToken(
  callback: Callback,
  secrets: readonly string[],
  { now, ...rules }: TokenRules,
): Promise<JWTPayload> {
  const token = readHeader(callback, 'authorization')?.replace(/^bearer +/i, '');
  if (token === undefined) throw new UnverifiedCallback('The signature is missing');
  // The library is loaded when the first token arrives, to save memory.
  const { errors, jwtVerify } = await import('jose');

  for (const secret of secrets) {
    try {
      const options = { ...rules, algorithms: ALGORITHMS, currentDate: now };
      return (await jwtVerify(token, new TextEncoder().encode(secret), options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) {
        throw new UnverifiedCallback(
          error instanceof errors.JWTExpired ? 'The signature has expired' : 'The signature is not valid',
        );
      }
    }
  }
  throw new UnverifiedCallback('The signature is not valid');
}

/** Throws UnverifiedCallback unless the claim is the given digest of the body. */
export function assertBodyDigest(claim: unknown, digest: string): void {
  if (typeof claim !== 'string' || !equalInConstantTime(claim, digest)) {
    throw new UnverifiedCallback('The signature does not match the body');
  }
}
