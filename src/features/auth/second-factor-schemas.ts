import { z } from 'zod';
import { count, unixSeconds } from '../../core/validation.ts';

/** The maximum length limits the cost of hashing. */
export const code = z
  .string()
  .max(50)
  .describe('A code from the authenticator app, or a recovery code')
  .meta({ example: '492039' });

export const SecondFactor = z
  .object({
    enabled: z.boolean().describe('Whether a sign-in with the password also requires a code'),
    enabled_at: unixSeconds.nullable().describe('Unix timestamp in seconds; null if the second factor is not enabled'),
    recovery_codes: count.describe('Number of recovery codes left'),
  })
  .meta({ id: 'SecondFactor' });
export type SecondFactor = z.infer<typeof SecondFactor>;

export const SecondFactorAnswer = z.object({ second_factor: SecondFactor }).meta({ id: 'SecondFactorResponse' });

export const SecondFactorSetup = z
  .object({
    secret: z
      .string()
      .describe('The secret in base32, to type into the app')
      .meta({ example: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' }),
    otpauth_uri: z
      .string()
      .describe('The secret as a URI, for a QR code that the app scans')
      .meta({ example: 'otpauth://totp/Lynxroom:ada%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Lynxroom' }),
  })
  .meta({ id: 'SecondFactorSetup' });
export type SecondFactorSetup = z.infer<typeof SecondFactorSetup>;

export const ConfirmSecondFactorInput = z
  .object({ code: code.describe('The current code from the app') })
  .meta({ id: 'ConfirmSecondFactorRequest' });
export type ConfirmSecondFactorInput = z.infer<typeof ConfirmSecondFactorInput>;

export const RecoveryCodes = z
  .object({
    recovery_codes: z
      .array(z.string().meta({ example: 'K3WQ-7Z2M-PX4A-6TQB' }))
      .describe('Each code works once, in place of a code from the app. Only this response contains them'),
  })
  .meta({ id: 'RecoveryCodes' });
export type RecoveryCodes = z.infer<typeof RecoveryCodes>;
