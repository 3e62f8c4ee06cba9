import { z } from 'zod';
import { nextCursor } from '../../core/list-page.ts';
import { registrationPolicies } from '../../core/registration-policy.ts';
import { requestedId } from '../../core/requested-id.ts';
import { fieldOf, flag, id, optional, unixSeconds, withDefault } from '../../core/validation.ts';
import { User } from '../auth/schemas.ts';

const MAX_PARAMETER_LENGTH = 4_000;
const MAX_PATH_LENGTH = 2_000;
/** Browsers treat a backslash as a slash and drop control characters, so both could lead to a different host. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern excludes control characters
const OWN_PATH = /^\/(?![/\\])[^\\\u0000-\u0020\u007f]*$/;

const providerId = z.string().describe('The ID of the provider').meta({ example: 'google' });

export const OpenidProviderEntry = z
  .object({
    id: providerId,
    name: z.string().describe('The name to show on a sign-in button').meta({ example: 'Google' }),
  })
  .meta({ id: 'OpenIdProvider', description: 'A provider that people can sign in with' });

export const OpenidProvidersAnswer = z
  .object({
    providers: z.array(OpenidProviderEntry),
    registration: z
      .enum(registrationPolicies)
      .describe('Who may create an account: everybody, people with an invitation, or nobody'),
    registration_domains: z
      .array(z.string())
      .describe('With `invited`: an address in one of these domains admits too, once it is confirmed')
      .meta({ example: ['example.com'] }),
    first_account: flag.describe(
      '1 if no account has ever existed, so that the caller may create the first one whatever `registration` says; ' +
        'always 0 for callers on other machines, and unless the service is for this machine alone',
    ),
  })
  .meta({ id: 'OpenIdProviderList' });

export const StartOpenidInput = z
  .object({
    provider: providerId,
    return_to: withDefault(
      z
        .string()
        .max(MAX_PATH_LENGTH)
        .regex(OWN_PATH, { error: 'return_to must be a path that begins with a single /' }),
      '/',
    )
      .describe('The path on your frontend (`APP_URL`, or this service if not set) to open after the sign-in')
      .meta({ example: '/rooms' }),
  })
  .meta({ id: 'StartOpenIdRequest' });
export type StartOpenidInput = z.infer<typeof StartOpenidInput>;

export const StartedOpenid = z
  .object({
    url: z.string().describe('The URL at the provider to send the browser to'),
    expires_at: unixSeconds.describe('When the sign-in expires, Unix timestamp in seconds'),
  })
  .meta({ id: 'StartedOpenIdResponse' });
export type StartedOpenid = z.infer<typeof StartedOpenid>;

const parameter = z
  .string()
  .max(MAX_PARAMETER_LENGTH)
  // RFC 6749, appendix A.
  .regex(/^[\x20-\x7e]*$/, { error: (issue) => `${fieldOf(issue)} must be printable ASCII` });

export const CompleteOpenidInput = z
  .object({
    state: parameter.describe('The parameter `state` of the URL'),
    code: optional(parameter.describe('The `code` parameter of the URL, if present')),
    iss: optional(parameter.describe('The `iss` parameter of the URL, if present')),
    error: optional(parameter.describe('The `error` parameter of the URL, if present')),
  })
  .meta({ id: 'CompleteOpenIdRequest' });
export type CompleteOpenidInput = z.infer<typeof CompleteOpenidInput>;

export const CompletedOpenid = z
  .object({
    purpose: z
      .enum(['sign_in', 'link', 'reauthenticate'])
      .describe(
        'The purpose of the request. `sign_in`: a session was created; `link`: the account was linked; ' +
          '`reauthenticate`: the user of the session has confirmed their identity',
      ),
    user: User,
    token: z.string().nullable().describe('The token of the new session; null for `link` and `reauthenticate`'),
    expires_at: unixSeconds.nullable().describe('When the new session expires; null for `link` and `reauthenticate`'),
    return_to: z.string().describe('The URL to go to').meta({ example: 'https://app.example.com/rooms' }),
  })
  .meta({ id: 'CompletedOpenIdResponse' });
export type CompletedOpenid = z.infer<typeof CompletedOpenid>;

export const OpenidIdentity = z
  .object({
    id,
    provider: providerId.nullable().describe('The ID of the provider; null if it is no longer in the settings'),
    issuer: z.string().describe('The issuer URL of the provider').meta({ example: 'https://accounts.google.com' }),
    email: z.string().nullable().describe('The email address that the provider last sent'),
    created_at: unixSeconds,
    last_used_at: unixSeconds,
  })
  .meta({ id: 'OpenIdIdentity', description: 'An account at a provider that the user can sign in with' });
export type OpenidIdentity = z.infer<typeof OpenidIdentity>;

export const OpenidIdentitiesAnswer = z
  .object({ identities: z.array(OpenidIdentity), next_cursor: nextCursor })
  .meta({ id: 'OpenIdIdentityList' });

export const OpenidIdentityInput = z.object({ identityId: requestedId.describe('Identity ID') });
export type OpenidIdentityInput = z.infer<typeof OpenidIdentityInput>;
