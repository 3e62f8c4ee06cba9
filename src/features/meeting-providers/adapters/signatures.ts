/** What proves that a callback comes from the provider: digests, constant-time comparison, signed tokens. */
import { createHash } from 'node:crypto';
import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { equalInConstantTime } from '../../../core/constant-time.ts';
import { UnverifiedCallback } from './errors.ts';
import type { Callback } from './facts.ts';
import { headerOf } from './read.ts';

/** What a token must hold besides its signature; `now` is the time at which it must hold. */
export type TokenRules = Pick<JWTVerifyOptions, 'clockTolerance' | 'issuer' | 'maxTokenAge' | 'requiredClaims'> & {
  now: Date;
};

/** HS256 and nothing else, or "none" and keys of another kind would be up to the sender (RFC 8725, section 3.1). */
const ALGORITHMS = ['HS256'];

export function sha256(body: Buffer, encoding: 'hex' | 'base64'): string {
  return createHash('sha256').update(body).digest(encoding);
}

/**
 * The claims of the JSON Web Token in the Authorization header, with or without "Bearer", if it is signed by HS256
 * with one of the secrets. Throws UnverifiedCallback otherwise, and where a rule is broken.
 */
export async function verifyToken(
  callback: Callback,
  secrets: readonly string[],
  { now, ...rules }: TokenRules,
): Promise<JWTPayload> {
  const token = headerOf(callback, 'authorization')?.replace(/^bearer +/i, '');
  if (token === undefined) throw new UnverifiedCallback('The signature is missing');

  for (const secret of secrets) {
    try {
      const options = { ...rules, algorithms: ALGORITHMS, currentDate: now };
      return (await jwtVerify(token, new TextEncoder().encode(secret), options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw refusalOf(error);
    }
  }
  throw new UnverifiedCallback('The signature is not valid');
}

function refusalOf(error: errors.JOSEError): UnverifiedCallback {
  return new UnverifiedCallback(
    error instanceof errors.JWTExpired ? 'The signature has expired' : 'The signature is not valid',
  );
}

/** Throws UnverifiedCallback unless the claim is the given digest of the body. */
export function assertBodyDigest(claim: unknown, digest: string): void {
  if (typeof claim !== 'string' || !equalInConstantTime(claim, digest)) {
    throw new UnverifiedCallback('The signature is of another body');
  }
}
