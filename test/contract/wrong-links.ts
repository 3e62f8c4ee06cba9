/** What rows of operations that take a link or an address have in common. */
import type { Refusal } from './row.ts';

const USELESS = 'This link was already used or has expired: request a new one';

export const wrongLinkTokens: readonly Refusal[] = [
  { input: { token: 'lnm_unknown' }, message: USELESS, path: 'token' },
  { input: { token: undefined }, message: 'token is required', path: 'token' },
  { input: { token: 5 }, message: 'token must be a string', path: 'token' },
];

export const wrongEmails: readonly Refusal[] = [
  { input: { email: 'nobody' }, message: 'email must be a valid email address', path: 'email' },
  { input: { email: undefined }, message: 'email is required', path: 'email' },
];
