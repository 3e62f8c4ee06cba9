/** The meeting providers, and what has to be set up at each. */
import type { Inputs, Outputs } from '@lynxroom/client';

export type Connection = Outputs['connections']['list']['connections'][number];
export type Provider = Connection['provider'];
export type Credentials = NonNullable<Inputs['connections']['create']['credentials']>;

export type CredentialField = { name: string; label: string; isSecret: boolean; isRequired: boolean; hint?: string };

type ProviderText = {
  label: string;
  /** What the provider signs its callbacks with. None if the service generates the secret. */
  credentials: readonly CredentialField[];
  /** What to do at the provider. */
  steps: readonly string[];
};

export const providers: Record<Provider, ProviderText> = {
  vonage: {
    label: 'Vonage Video',
    credentials: [
      { name: 'signature_secret', label: 'Signature secret', isSecret: true, isRequired: true },
      {
        name: 'session_signature_secret',
        label: 'Signature secret of session monitoring',
        isSecret: true,
        isRequired: false,
        hint: 'Only if it differs',
      },
      {
        name: 'api_key',
        label: 'API key',
        isSecret: false,
        isRequired: false,
        hint: 'If you enter it, only callbacks of this account are accepted',
      },
      {
        name: 'application_id',
        label: 'Application ID',
        isSecret: false,
        isRequired: false,
        hint: 'If you enter it, only callbacks of this application are accepted',
      },
    ],
    steps: [
      'Enable secure (signed) callbacks for your project, with the signature secret that you have entered here.',
      'Enter the URL as the callback URL of archive monitoring and of session monitoring.',
      'Before a meeting, set its Vonage session as the session ID of the room, through the API.',
    ],
  },
  livekit: {
    label: 'LiveKit',
    credentials: [
      { name: 'api_key', label: 'API key', isSecret: false, isRequired: true, hint: 'The key that signs the webhooks' },
      { name: 'api_secret', label: 'API secret', isSecret: true, isRequired: true },
    ],
    steps: [
      'Add the URL to the webhooks of your project, or to webhook.urls in the config.yaml of your own server.',
      'Choose the API key that you have entered here as the key that signs the webhooks.',
      'Give a LiveKit room the same name as the room here.',
    ],
  },
  generic: {
    label: 'Another provider',
    credentials: [],
    steps: [
      'Post each event to the URL, as JSON.',
      'Sign it as Standard Webhooks describes, with the secret.',
      'Name the room as it is named here.',
    ],
  },
};

export const providerOptions = (['livekit', 'vonage', 'generic'] as const).map((value) => ({
  value,
  label: providers[value].label,
}));

export function toProvider(value: unknown): Provider {
  return providerOptions.find((option) => option.value === value)?.value ?? 'generic';
}

/** The credentials that were entered; undefined for a provider without any. */
export function readCredentials(provider: Provider, values: FormData): Credentials | undefined {
  const { credentials } = providers[provider];
  if (credentials.length === 0) return undefined;
  const entries = credentials.map(({ name }) => [name, String(values.get(name) ?? '').trim()] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}
