import { z } from 'zod';
import { count, unixSeconds } from '../../core/validation.ts';

/** The length limits what is hashed. */
export const code = z
  .string()
  .max(50)
  .describe('A code from the authenticator app, or a recovery code')
  .meta({ example: '492039' });

export const SecondFactor = z
  .object({
    enabled: z.boolean().describe('Whether signing in with the password also needs a code'),
    enabled_at: unixSeconds.nullable().describe('Unix timestamp in seconds; null if it is not enabled'),
    recovery_codes: count.describe('How many recovery codes are left'),
  })
  .meta({ id: 'SecondFactor' });
export type SecondFactor = z.infer<typeof SecondFactor>;

export const SecondFactorAnswer = z.object({ second_factor: SecondFactor }).meta({ id: 'SecondFactorResponse' });

export const SecondFactorSetup = z
  .object({
    secret: z
      .string()
      .describe('For typing into the app, in base32')
      .meta({ example: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' }),
    otpauth_uri: z
      .string()
      .describe('For a QR code that the app scans')
      .meta({ example: 'otpauth://totp/Lynxroom:ada%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Lynxroom' }),
  })
  .meta({ id: 'SecondFactorSetup' });
export type SecondFactorSetup = z.infer<typeof SecondFactorSetup>;

export const ConfirmSecondFactorInput = z
  .object({ code: code.describe('The code that the app shows now') })
  .meta({ id: 'ConfirmSecondFactorRequest' });
export type ConfirmSecondFactorInput = z.infer<typeof ConfirmSecondFactorInput>;

export const RecoveryCodes = z
  .object({
    recovery_codes: z
      .array(z.string().meta({ example: 'K3WQ-7Z2M-PX4A-6TQB' }))
      .describe('Each replaces a code from the app once. They are only returned here'),
  })
  .meta({ id: 'RecoveryCodes' });
export type RecoveryCodes = z.infer<typeof RecoveryCodes>;
