import { z } from 'zod';
import { email, optional } from '../../core/validation.ts';
import { givenPassword, newPassword } from './schemas.ts';

const token = z
  .string()
  .max(100)
  .describe('The part of the link after `#token=`')
  .meta({ example: 'lnm_EXAMPLE_TOKEN' });

export const VerifyEmailInput = z
  .object({
    token,
    password: optional(givenPassword.describe('Required unless the call is made with a session of the account')),
  })
  .meta({ id: 'VerifyEmailRequest' });
export type VerifyEmailInput = z.infer<typeof VerifyEmailInput>;

export const VerifiedEmail = z
  .object({ email: z.string().describe('The confirmed address') })
  .meta({ id: 'VerifiedEmail' });

export const ChangeEmailInput = z
  .object({ email: email.describe('The new email address') })
  .meta({ id: 'ChangeEmailRequest' });

export const ForgotPasswordInput = z
  .object({ email: email.describe('The email address of the account') })
  .meta({ id: 'ForgotPasswordRequest' });

export const ResetPasswordInput = z
  .object({
    token,
    password: newPassword,
    keep_access: optional(
      z
        .boolean()
        .describe(
          'true: the lasting access of the account remains. Has no effect if the address was never confirmed before',
        ),
    ),
  })
  .meta({ id: 'ResetPasswordRequest' });
export type ResetPasswordInput = z.infer<typeof ResetPasswordInput>;
