/** What verifies the callbacks of a connection: how it is given, made, kept and replaced. */
import { z } from 'zod';
import { toEnum } from '../../../core/enums.ts';
import { badField } from '../../../core/errors.ts';
import type { Sealer } from '../../../core/sealing.ts';
import { DAY_MS } from '../../../core/time.ts';
import { parseInput } from '../../../core/validation.ts';
import { createGenericSecret } from '../adapters/generic.ts';
import { credentialsShape, type ProviderKind, providerKinds } from '../adapters/index.ts';
import type { ProviderCredentials } from '../adapters/provider-adapter.ts';

/**
 * How long the credentials before the last rotation are good too: time enough to bring the new ones to the provider.
 */
const OVERLAP_MS = DAY_MS;

const Credentials = z.record(z.string(), z.string().optional());

const StoredCredentials = z.object({
  current: Credentials,
  /** `until` in milliseconds since 1970. */
  previous: z.object({ credentials: Credentials, until: z.number() }).nullable(),
});
/** The credentials of a connection, as they are sealed. */
export type StoredCredentials = z.infer<typeof StoredCredentials>;

/** New credentials; `secret` is what the caller must be told, null where they brought it. */
export type NewCredentials = { credentials: ProviderCredentials; secret: string | null };

/** The provider column of a connection as a ProviderKind. */
export function toProviderKind(text: string): ProviderKind {
  return toEnum(providerKinds, text, 'meeting provider');
}

/** The credentials that were `given`, or for generic new ones. Throws 400 that names each wrong field. */
export function readNewCredentials(provider: ProviderKind, given: unknown): NewCredentials {
  if (provider !== 'generic') {
    const shape = z.object({ credentials: credentialsShape[provider] });
    return { credentials: parseInput(shape, { credentials: given }).credentials, secret: null };
  }
  // A secret of the caller's own that was passed over in silence would have them sign with the wrong one.
  if (given !== undefined)
    throw badField('credentials', 'credentials must be left out for generic: its secret is made here');
  const secret = createGenericSecret();
  return { credentials: { secret }, secret };
}

export function newStoredCredentials(credentials: ProviderCredentials): StoredCredentials {
  return {
    current: credentials,
    previous: null,
  };
}

/** Puts new credentials in place; the present ones are good for 24 hours more, and earlier ones no longer. */
export function rotateCredentials(
  { current }: StoredCredentials,
  credentials: ProviderCredentials,
  now: Date,
): StoredCredentials {
  return {
    current: credentials,
    previous: { credentials: current, until: now.getTime() + OVERLAP_MS },
  };
}

/** Those that are good at `now`, the present ones first. */
export function validCredentials({ current, previous }: StoredCredentials, now: Date): ProviderCredentials[] {
  return previous !== null && previous.until > now.getTime() ? [current, previous.credentials] : [current];
}

export function sealCredentials(
  sealer: Sealer,
  workspaceId: number,
  credentials: StoredCredentials,
): Uint8Array<ArrayBuffer> {
  return sealer.seal(JSON.stringify(credentials), { workspaceId, purpose: 'meeting credentials' });
}

export function openCredentials(sealer: Sealer, workspaceId: number, sealed: Uint8Array): StoredCredentials {
  return StoredCredentials.parse(JSON.parse(sealer.open(sealed, { workspaceId, purpose: 'meeting credentials' })));
}
