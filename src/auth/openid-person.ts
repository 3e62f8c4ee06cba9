/** Reads what a provider says about a person: in the ID token, and at the userinfo endpoint. */
import type * as openid from 'openid-client';

/** The person who signed in at a provider. */
export type OpenidPerson = {
  /** Together with `subject`, the only permanent identifier of the person. */
  issuer: string;
  subject: string;
  email: string | null;
  /** Whether the provider says that the address belongs to the person, or is trusted to send no other addresses. */
  isEmailVerified: boolean;
  name: string | null;
  /** When they signed in at the provider, as a Unix timestamp; null if it does not say. */
  authenticatedAt: number | null;
};

/** How a provider sends addresses. */
export type EmailRules = {
  /** The claim with the address: `email`, unless the provider sends it as another one. */
  emailClaim: string;
  /** Whether an address counts as verified if the provider does not say, or says so as a text. */
  trustsEmail: boolean;
};

type Claims = Readonly<Record<string, unknown>>;

/** What of a person an ID token contains. Only what is missing must be read from the userinfo endpoint. */
export type Completeness = 'all' | 'all but the name' | 'not all';

export function completenessOf(token: openid.IDToken, rules: EmailRules): Completeness {
  const isKnown = rules.trustsEmail || isVerifiedIn(token, rules) !== null;
  if (readText(token[rules.emailClaim]) === null || !isKnown) return 'not all';
  return readText(token.name) === null ? 'all but the name' : 'all';
}

/** The ID token is signed, so its claims take precedence. */
export function toPerson(token: openid.IDToken, info: Claims, rules: EmailRules): OpenidPerson {
  const { emailClaim, trustsEmail } = rules;
  const email = readText(token[emailClaim]) ?? readText(info[emailClaim]);
  const [verdict = trustsEmail] = [token, info].flatMap((source) =>
    source[emailClaim] === email ? (isVerifiedIn(source, rules) ?? []) : [],
  );
  return {
    issuer: token.iss,
    subject: token.sub,
    email,
    isEmailVerified: email !== null && verdict,
    name: readText(token.name) ?? readText(info.name),
    authenticatedAt: token.auth_time ?? null,
  };
}

/**
 * Null if the source does not say. `email_verified` is about `email`, and says nothing about another claim. The
 * specification does not allow a text, so "true" counts only from a provider that is trusted.
 */
function isVerifiedIn({ email_verified: verified }: Claims, { emailClaim, trustsEmail }: EmailRules): boolean | null {
  if (emailClaim !== 'email' || verified === undefined || verified === null) return null;
  return verified === true || (verified === 'true' && trustsEmail);
}

function readText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
