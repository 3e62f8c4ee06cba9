/** What transports check before they read the JSON body of a call. */
import type { NetworkLimitName } from '../auth/rate-limits.ts';
import type { Meta } from './context.ts';

export type BodyLimits = {
  /** The maximum size of the body. */
  maxBytes: number;
  /** Whether a credential is required, optional, recognized if it is a valid session, or ignored. */
  credential: 'required' | 'optional' | 'recognized' | 'none';
  /** Whether participants with a pass may call it. They are found when the body has been read. */
  takesPassHolders?: true;
  /** The limit of the network that calls without a valid credential count toward, or null. */
  networkLimit: NetworkLimitName | null;
};

const KIB = 1024;

/** For operations that anyone may call. */
export const MAX_PUBLIC_BYTES = 8 * KIB;
/** For operations that require a credential. */
const MAX_BYTES = 64 * KIB;
/** For a tRPC batch, whatever the sum of its calls. */
export const MAX_BATCH_BYTES = 256 * KIB;

export function bodyLimitsOf({ maxBodyBytes, openapi, credential, networkLimit, takesPassHolders }: Meta): BodyLimits {
  if (takesPassHolders)
    return { maxBytes: MAX_PUBLIC_BYTES, credential: 'required', networkLimit: 'perUser', takesPassHolders };
  if (openapi?.protect !== false)
    return { maxBytes: maxBodyBytes ?? MAX_BYTES, credential: 'required', networkLimit: 'perUser' };
  return {
    maxBytes: maxBodyBytes ?? MAX_PUBLIC_BYTES,
    credential: credential ?? 'none',
    networkLimit: networkLimit ?? null,
  };
}
