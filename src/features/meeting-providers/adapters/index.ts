/** The meeting providers whose callbacks the service understands. */
import type { ProviderAdapter } from './facts.ts';
import { GenericCredentials, generic } from './generic.ts';
import { LivekitCredentials, livekit } from './livekit.ts';
import { VonageCredentials, vonage } from './vonage.ts';

export const providerKinds = ['vonage', 'livekit', 'generic'] as const;

export type ProviderKind = (typeof providerKinds)[number];

export const providers: Readonly<Record<ProviderKind, ProviderAdapter>> = { vonage, livekit, generic };

/** What verifies the callbacks of each provider. All of it is secret but API keys and application ids. */
export const credentialsShape = {
  vonage: VonageCredentials,
  livekit: LivekitCredentials,
  generic: GenericCredentials,
} as const;
