/** Passkeys of the browser (WebAuthn). What the service sends and takes is the JSON of the standard. */
import type { Inputs, Outputs } from '@lynxroom/client';

type CreationOptions = Outputs['passkeys']['startRegistration']['options'];
type RequestOptions = Outputs['passkeys']['startSignIn']['options'];
type NewPasskey = Inputs['passkeys']['register']['response'];
type Proof = Inputs['passkeys']['signIn']['response'];

/** Whether the browser supports passkeys, and accepts options as JSON. */
export function hasPasskeys(): boolean {
  return typeof PublicKeyCredential !== 'undefined' && 'parseCreationOptionsFromJSON' in PublicKeyCredential;
}

/** Creates a passkey. Rejects with a message for the user if they cancel, or if the device has one already. */
export async function createPasskey(options: CreationOptions): Promise<NewPasskey> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  // `as`: browsers create credentials of this type.
  return (await toJson(() => navigator.credentials.create({ publicKey }))) as NewPasskey;
}

/** Proves with a passkey who the user is. Rejects with a message for the user if they cancel. */
export async function askForPasskey(options: RequestOptions): Promise<Proof> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  // `as`: browsers return proofs of this type.
  return (await toJson(() => navigator.credentials.get({ publicKey }))) as Proof;
}

async function toJson(ask: () => Promise<Credential | null>): Promise<ReturnType<PublicKeyCredential['toJSON']>> {
  try {
    const credential = await ask();
    // `as`: the type of a credential with options of this kind.
    if (credential !== null) return (credential as PublicKeyCredential).toJSON();
  } catch (error) {
    throw new Error(toMessage(error), { cause: error });
  }
  throw new Error('The browser did not return a passkey');
}

/** The standard defines the names. The same name stands for a request that the user cancelled and for a timeout. */
function toMessage(error: unknown): string {
  const name = error instanceof Error ? error.name : '';
  if (name === 'NotAllowedError') return 'No passkey was used: the request was cancelled or timed out';
  if (name === 'InvalidStateError') return 'This device already has a passkey for your account';
  return error instanceof Error ? error.message : 'The browser could not use a passkey';
}
