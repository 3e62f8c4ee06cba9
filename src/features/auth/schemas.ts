import { z } from 'zod';
import { isCommonPassword } from '../../auth/common-passwords.ts';
import { nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import { MAX_PASSWORD_LENGTH, normalizePassword } from '../../core/text.ts';
import { count, email, id, MAX_NAME_LENGTH, optional, requiredText, unixSeconds } from '../../core/validation.ts';
import { AccessList } from './access-schemas.ts';
import { code } from './second-factor-schemas.ts';

const MIN_PASSWORD_LENGTH = 8;
const PASSWORD_LENGTH = `password must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`;
/** For the document. The checks below count the characters of the normalized password. */
const lengths = { minLength: MIN_PASSWORD_LENGTH, maxLength: MAX_PASSWORD_LENGTH } as const;

export const userName = requiredText(MAX_NAME_LENGTH, 'Name is required')
  .describe('Display name')
  .meta({ example: 'Ada Lovelace' });

/** A password that a user chooses when they register, or change or reset their password. */
export const newPassword = z
  .string()
  .refine(hasPasswordLength, { error: PASSWORD_LENGTH })
  .refine((value) => value.isWellFormed(), { error: 'password must not contain invalid Unicode' })
  .refine((value) => !isCommonPassword(normalizePassword(value)), {
    error: 'password is too common: choose one that is hard to guess',
  })
  .describe('8 to 200 characters; the most common passwords are rejected')
  .meta({ ...lengths, example: 'correct horse battery staple' });

function hasPasswordLength(value: string): boolean {
  const { length } = normalizePassword(value);
  return length >= MIN_PASSWORD_LENGTH && length <= MAX_PASSWORD_LENGTH;
}

export const signInMethods = [
  'password',
  'totp',
  'recovery_code',
  'passkey',
  'oidc',
  'registration',
  'local_link',
] as const;
export type SignInMethod = (typeof signInMethods)[number];

/** A password to verify: any string. The maximum length limits the cost of hashing. */
export const givenPassword = z
  .string()
  .check(({ value, issues }) => {
    if (normalizePassword(value).length > MAX_PASSWORD_LENGTH)
      issues.push({ code: 'too_big', origin: 'string', maximum: MAX_PASSWORD_LENGTH, input: value });
  })
  .describe('The password of the account')
  .meta({ maxLength: lengths.maxLength, example: 'correct horse battery staple' });

export const User = z
  .object({
    id,
    name: z.string(),
    email: z.string(),
    email_verified: z.boolean().describe('Whether the user has confirmed the address'),
    recording_mail: z
      .boolean()
      .describe('Whether the user gets mail when a recording of one of their rooms, or one they started, is ready'),
    created_at: unixSeconds,
  })
  .meta({ id: 'User', description: 'A person with an account' });
export type User = z.infer<typeof User>;

export const RegisterInput = z
  .object({
    name: userName,
    email,
    password: newPassword,
    invitation: optional(
      z
        .string()
        .max(200)
        .describe(
          'The token of an invitation by mail, or of an invite link. Required where the service takes new accounts ' +
            'by invitation only; it does not accept the invitation',
        ),
    ),
    setup_token: optional(
      z
        .string()
        .max(200)
        .describe('The `SETUP_TOKEN` of the operator, for the first account where not everybody may create one'),
    ),
  })
  .meta({ id: 'RegisterRequest' });
export type RegisterInput = z.infer<typeof RegisterInput>;

export const LoginInput = z
  .object({
    email: email.describe('Email address'),
    password: givenPassword,
    code: optional(
      code.describe(
        'A code from the authenticator app, or a recovery code. Required if the account has a second factor',
      ),
    ),
  })
  .meta({ id: 'LoginRequest' });
export type LoginInput = z.infer<typeof LoginInput>;

export const UpdateMeInput = z
  .object({
    name: optional(userName),
    password: optional(
      newPassword.describe('The new password, 8 to 200 characters; setting it ends all other sessions'),
    ),
    current_password: optional(givenPassword.describe('Required to set a new password')),
    recording_mail: optional(z.boolean().describe('Whether to send mail when a recording is ready')),
    end_api_keys: optional(
      z.boolean().describe('true: also revokes all API keys that the user created, in every workspace'),
    ),
  })
  .refine(({ password, end_api_keys }) => password !== undefined || end_api_keys !== true, {
    path: ['end_api_keys'],
    error: 'end_api_keys requires a new password',
  })
  .meta({ id: 'UpdateAccountRequest' });
export type UpdateMeInput = z.infer<typeof UpdateMeInput>;

export const ReauthenticateInput = z
  .object({
    password: optional(givenPassword),
    code: optional(
      code.describe(
        'A code from the authenticator app, or a recovery code. Required if the account has a second factor',
      ),
    ),
  })
  .meta({ id: 'ReauthenticateRequest' });
export type ReauthenticateInput = z.infer<typeof ReauthenticateInput>;

export const OwnSession = z
  .object({
    id,
    device: z
      .string()
      .describe('The browser or program, and the operating system')
      .meta({ example: 'Firefox on Linux' }),
    address: z
      .string()
      .nullable()
      .describe('The network address of the last use; null if unknown')
      .meta({ example: '203.0.113.7' }),
    method: z.enum(signInMethods).describe('How the user signed in'),
    created_at: unixSeconds,
    authenticated_at: unixSeconds.describe(
      'When the user last confirmed their identity, as a Unix timestamp in seconds',
    ),
    last_used_at: unixSeconds.describe('Unix timestamp in seconds, accurate to five minutes'),
    expires_at: unixSeconds.describe('When the session expires, as a Unix timestamp in seconds'),
    is_current: z.boolean().describe('Whether this is the session that made the call'),
  })
  .meta({ id: 'OwnSession', description: 'A session of the caller' });
export type OwnSession = z.infer<typeof OwnSession>;

export const SessionList = z
  .object({ sessions: z.array(OwnSession), next_cursor: nextCursor })
  .meta({ id: 'SessionList' });

export const EndSessionInput = z.object({ sessionId: requestedId.describe('Session ID') });
export type EndSessionInput = z.infer<typeof EndSessionInput>;

export const EndedSessions = z
  .object({ ended: count.describe('The number of ended sessions') })
  .meta({ id: 'EndedSessions' });
export type EndedSessions = z.infer<typeof EndedSessions>;

export const SignedIn = z
  .object({
    user: User,
    token: z
      .string()
      .describe('Send it as `Authorization: Bearer <token>`. It begins with `lns_`. Only this response contains it'),
    expires_at: unixSeconds.describe('When the session expires, as a Unix timestamp in seconds'),
  })
  .meta({ id: 'Session' });
export type SignedIn = z.infer<typeof SignedIn>;

export const UpdatedUser = AccessList.partial()
  .extend({ user: User })
  .meta({ id: 'UpdatedAccountResponse', description: 'The lasting access is listed only if the password was changed' });
export type UpdatedUser = z.infer<typeof UpdatedUser>;

export const UserAnswer = z.object({ user: User }).meta({ id: 'UserResponse' });
