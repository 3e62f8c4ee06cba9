/** The meeting providers whose callbacks the service understands. */
import { toEnum } from '../../../core/enums.ts';
import { GenericCredentials, generic } from './generic.ts';
import { LivekitCredentials, livekit } from './livekit.ts';
import type { ProviderAdapter } from './provider-adapter.ts';
import { VonageCredentials, vonage } from './vonage.ts';

export const providerKinds = ['vonage', 'livekit', 'generic'] as const;

export type ProviderKind = (typeof providerKinds)[number];

export const providers: Readonly<Record<ProviderKind, ProviderAdapter>> = { vonage, livekit, generic };

/** The credentials of each provider. All fields except API keys and application ids are secret. */
export const credentialsSchemas = {
  vonage: VonageCredentials,
  livekit: LivekitCredentials,
  generic: GenericCredentials,
} as const;

/** Converts the `provider` column of a connection to a ProviderKind. */
export function toProviderKind(text: string): ProviderKind {
  return toEnum(providerKinds, text, 'meeting provider');
}
