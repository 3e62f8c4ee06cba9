/** The meeting providers whose callbacks the service understands. */

import { GenericCredentials, generic } from './generic.ts';
import { LivekitCredentials, livekit } from './livekit.ts';
import type { ProviderAdapter } from './provider-adapter.ts';
import { VonageCredentials, vonage } from './vonage.ts';

export const providerKinds = ['vonage', 'livekit', 'generic'] as const;

export type ProviderKind = (typeof providerKinds)[number];

export const providers: Readonly<Record<ProviderKind, ProviderAdapter>> = { vonage, livekit, generic };

/**
 * The credentials that verify the callbacks of each provider. Everything but API keys and application ids is secret.
 */
export const credentialsShape = {
  vonage: VonageCredentials,
  livekit: LivekitCredentials,
  generic: GenericCredentials,
} as const;
