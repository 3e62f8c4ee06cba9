/** Reads, creates, rotates and seals the credentials that verify the callbacks of a connection. */
import { z } from 'zod';
import { badField } from '../../../core/errors.ts';
import type { Sealer } from '../../../core/sealing.ts';
import { DAY_MS } from '../../../core/time.ts';
import { parseInput } from '../../../core/validation.ts';
import { createGenericSecret } from '../adapters/generic.ts';
import { credentialsSchemas, type ProviderKind } from '../adapters/index.ts';
import type { ProviderCredentials } from '../adapters/provider-adapter.ts';

/** How long the previous credentials remain valid after a rotation, so that there is time to configure the provider. */
const OVERLAP_MS = DAY_MS;

const Credentials = z.record(z.string(), z.string().optional());

const StoredCredentials = z.object({
  current: Credentials,
  /** `until` is in milliseconds since 1970. */
  previous: z.object({ credentials: Credentials, until: z.number() }).nullable(),
});
/** The stored credentials of a connection. */
export type StoredCredentials = z.infer<typeof StoredCredentials>;

/**
 * `secret` must be shown to the caller. It is null if the caller sent the credentials. `url` is that of a LiveKit
 * server, which is no secret.
 */
export type NewCredentials = { credentials: ProviderCredentials; url?: string | undefined; secret: string | null };

/**
 * Parses the credentials from the input or, for the `generic` provider, creates a secret. Throws 400 with a message
 * that names each invalid field.
 */
export function readNewCredentials(provider: ProviderKind, sent: unknown): NewCredentials {
  if (provider !== 'generic') {
    const shape = z.object({ credentials: credentialsSchemas[provider] });
    const { url, ...credentials }: ProviderCredentials & { url?: string | undefined } = parseInput(shape, {
      credentials: sent,
    }).credentials;
    return { credentials, url, secret: null };
  }
  // If the service ignored a secret that the caller sent, the provider would sign with the wrong one.
  if (sent !== undefined)
    throw badField(
      'credentials',
      'credentials must be omitted for the generic provider: the service creates the secret',
    );
  const secret = createGenericSecret();
  return { credentials: { secret }, secret };
}

/**
 * Makes `credentials` the current ones. The replaced credentials stay valid for 24 hours; older ones become invalid
 * immediately.
 */
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

/** Returns the credentials that are valid at `now`, the current ones first. */
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
