import { z } from 'zod';
import { nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import {
  flag,
  id,
  integerBetween,
  MAX_NAME_LENGTH,
  requiredText,
  unixSeconds,
  withDefault,
} from '../../core/validation.ts';

/** WebAuthn allows credential IDs of at most 1,023 bytes. */
const MAX_CREDENTIAL_ID_LENGTH = 1_364;
/** In base64url. Post-quantum signatures have up to 5 kB; an attestation contains certificates. */
const MAX_FIELD_LENGTH = 4_000;
const MAX_SIGNATURE_LENGTH = 8_000;
const MAX_ATTESTATION_LENGTH = 20_000;
const BASE64URL = /^[A-Za-z0-9_-]*$/;

const NotBase64url = { error: 'must be base64url' };
const base64urlOf = (maxLength: number) => z.string().max(maxLength).regex(BASE64URL, NotBase64url);
const base64url = base64urlOf(MAX_FIELD_LENGTH);
const credentialId = z.string().min(1).max(MAX_CREDENTIAL_ID_LENGTH).regex(BASE64URL, NotBase64url);
const publicKeyType = z.literal('public-key');

const passkeyName = requiredText(MAX_NAME_LENGTH, 'Name is required')
  .describe('A name that helps the user recognize the passkey, at most 100 characters')
  .meta({ example: 'Laptop' });

export const Passkey = z
  .object({
    id,
    name: z.string().meta({ example: 'Laptop' }),
    is_backed_up: flag.describe('1 if the passkey is synchronized between devices, 0 if it exists on one device only'),
    created_at: unixSeconds,
    last_used_at: unixSeconds.nullable().describe('When the user last signed in with it; null if never'),
  })
  .meta({ id: 'Passkey', description: 'A WebAuthn credential that the user signs in with' });
export type Passkey = z.infer<typeof Passkey>;

export const PasskeyAnswer = z.object({ passkey: Passkey }).meta({ id: 'PasskeyResponse' });
export const PasskeysAnswer = z
  .object({ passkeys: z.array(Passkey), next_cursor: nextCursor })
  .meta({ id: 'PasskeyList' });

const Descriptor = z
  .object({ id: z.string(), type: publicKeyType, transports: z.array(z.string()).optional() })
  .meta({ id: 'PasskeyDescriptor', description: 'Identifies a credential, as in WebAuthn' });

const challenge = z.string().describe('Random bytes in base64url. The challenge works once, within five minutes');
const timeout = integerBetween(0, 3_600_000).describe('In milliseconds');

const Algorithm = z
  .object({ type: publicKeyType, alg: integerBetween(-65_535, 65_535).describe('A COSE algorithm number') })
  .meta({ id: 'PasskeyAlgorithm', description: 'An algorithm that a passkey may use' });

export const RegistrationOptions = z
  .object({
    rp: z.object({ id: z.string().describe('The domain'), name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    challenge,
    pubKeyCredParams: z.array(Algorithm),
    timeout,
    excludeCredentials: z.array(Descriptor),
    authenticatorSelection: z.object({
      residentKey: z.literal('required'),
      requireResidentKey: z.boolean(),
      userVerification: z.literal('required'),
    }),
    attestation: z.literal('none'),
  })
  .meta({ id: 'PasskeyRegistrationOptions', description: 'PublicKeyCredentialCreationOptionsJSON of WebAuthn' });
export type RegistrationOptions = z.infer<typeof RegistrationOptions>;

export const SignInOptions = z
  .object({
    rpId: z.string().describe('The domain'),
    challenge,
    timeout,
    allowCredentials: z.array(Descriptor).describe('An empty list allows any passkey of the domain'),
    userVerification: z.literal('required'),
  })
  .meta({ id: 'PasskeySignInOptions', description: 'PublicKeyCredentialRequestOptionsJSON of WebAuthn' });
export type SignInOptions = z.infer<typeof SignInOptions>;

export const RegistrationOptionsAnswer = z
  .object({ options: RegistrationOptions })
  .meta({ id: 'PasskeyRegistrationOptionsResponse' });
export const SignInOptionsAnswer = z.object({ options: SignInOptions }).meta({ id: 'PasskeySignInOptionsResponse' });

export const RegisterPasskeyInput = z
  .object({
    name: withDefault(passkeyName, 'Passkey'),
    response: z
      .object({
        id: credentialId,
        rawId: credentialId,
        type: publicKeyType,
        response: z.object({
          clientDataJSON: base64url,
          attestationObject: base64urlOf(MAX_ATTESTATION_LENGTH),
          transports: z.array(z.string().max(32)).max(10).optional(),
        }),
      })
      .describe('What `navigator.credentials.create` resolved with, as JSON (RegistrationResponseJSON)'),
  })
  .meta({ id: 'RegisterPasskeyRequest' });
export type RegisterPasskeyInput = z.infer<typeof RegisterPasskeyInput>;

export const PasskeySignInInput = z
  .object({
    response: z
      .object({
        id: credentialId,
        rawId: credentialId,
        type: publicKeyType,
        response: z.object({
          clientDataJSON: base64url,
          authenticatorData: base64url,
          signature: base64urlOf(MAX_SIGNATURE_LENGTH),
          userHandle: base64url.nullish(),
        }),
      })
      .describe('What `navigator.credentials.get` resolved with, as JSON (AuthenticationResponseJSON)'),
  })
  .meta({ id: 'PasskeySignInRequest' });
export type PasskeySignInInput = z.infer<typeof PasskeySignInInput>;

export const PasskeyInput = z.object({ passkeyId: requestedId.describe('Passkey ID') });
export type PasskeyInput = z.infer<typeof PasskeyInput>;

export const RenamePasskeyInput = PasskeyInput.extend({ name: passkeyName }).meta({ id: 'RenamePasskeyRequest' });
export type RenamePasskeyInput = z.infer<typeof RenamePasskeyInput>;
