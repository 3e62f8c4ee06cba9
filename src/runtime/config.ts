/** The settings of the service. The process parses them from the environment once, when it starts. */
import { isIP } from 'node:net';
import { z } from 'zod';
import type { OpenidProvider } from '../auth/openid-providers.ts';
import { registrationPolicies } from '../core/registration-policy.ts';
import { readEncryptionKey } from '../core/sealing.ts';
import { defaultQuotas } from '../quotas/quotas.ts';
// Imported for its effect: it sets the messages of validation errors.
import '../core/validation.ts';
import { egressPrefix, hasEgress, isApart } from './egress-settings.ts';
import { hasTurn, iceServers, livekitUrl, turnUrls } from './meeting-settings.ts';
import { openidSettingNames, readOpenidProviders } from './openid-settings.ts';

/** The environment has invalid settings. Each line of the message names one. */
export class ConfigError extends Error {
  constructor(lines: readonly string[]) {
    super(`Invalid configuration:\n${lines.map((line) => `  ${line}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

const flag = z
  .enum(['0', '1', 'true', 'false'], { error: 'must be 0 or 1' })
  .transform((value) => value === '1' || value === 'true');

/** A URI without line breaks, which would be further fields of the file. */
const securityContact = z.string().regex(/^(?:mailto:[^\s@]+@[^\s@]+|https:\/\/\S+|tel:\+[\d-]+)$/, {
  error: 'must be a mailto:, https: or tel: address, such as mailto:security@example.com',
});

const baseUrl = z
  .url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' })
  .transform((value) => value.replace(/(?<!\/)\/+$/, ''));

const list = z.string().transform((value) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
);

const corsOrigins = z.literal('*').or(
  list.refine((values) => values.every(isOrigin), {
    error: 'must be *, or a comma-separated list of origins without a path, such as https://app.example.com',
  }),
);

const proxies = z
  .enum(['0', 'false'])
  .transform(() => false as const)
  .or(
    list.refine((values) => values.every(isNetwork), {
      error: 'must be 0, or a comma-separated list of proxy addresses or networks, such as 10.0.0.0/8',
    }),
  );

const encryptionKey = z.string().transform((value, ctx) => {
  const key = readEncryptionKey(value);
  if (key === null) ctx.addIssue('must be 32 bytes in base64, such as the output of `openssl rand -base64 32`');
  return key ?? z.NEVER;
});

const encryptionKeys = list.transform((values, ctx) => {
  const keys = values.map(readEncryptionKey);
  if (keys.includes(null)) ctx.addIssue('must be a comma-separated list of keys, each 32 bytes in base64');
  return keys.filter((key) => key !== null);
});

/** Lower-case labels; not an IP address, whose last label is a number. */
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?$/;

const mailDomains = list
  .transform((values) => values.map((value) => value.toLowerCase()))
  .refine((values) => values.every((value) => HOST_NAME.test(value) && value.includes('.')), {
    error: 'must be a comma-separated list of domains of email addresses, such as example.com',
  });

const databaseUrl = z.url({ protocol: /^postgres(ql)?$/, error: 'must be a URL that begins with postgresql://' });

/** `tls=off` is the only allowed parameter, so that a misspelt one does not leave mail unencrypted or unsent. */
const smtpUrl = z
  .url({ protocol: /^smtps?$/, error: 'must be a URL that begins with smtp:// or smtps://' })
  .refine((value) => ['', '?tls=off'].includes(new URL(value).search) && new URL(value).pathname.length <= 1, {
    error: 'must have no path, and no parameter except tls=off',
  })
  .refine((value) => new URL(value).protocol === 'smtp:' || new URL(value).search === '', {
    error: 'can have tls=off only with smtp://',
  });

/** `noreply@example.com`, or `Lynxroom <noreply@example.com>`. */
const mailbox = z.string().transform((value, ctx) => {
  const [, name = '', address = value] = /^([^<>]*)<([^<>]*)>$/.exec(value.trim()) ?? [];
  const valid = z.email().safeParse(address.trim());
  if (!valid.success || /\p{Cc}/u.test(name))
    ctx.addIssue('must be an email address, or a name and an address: Lynxroom <noreply@example.com>');
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address: address.trim() };
});

const Environment = z
  .object({
    NODE_ENV: z.string().optional(),
    PORT: wholeNumber(0, 65_535).prefault('3000'),
    HOST: z.string().default('127.0.0.1'),
    METRICS_PORT: wholeNumber(0, 65_535).optional(),
    METRICS_HOST: z.string().default('127.0.0.1'),
    DATA_DIR: z.string().default('.data'),
    DATABASE_URL: databaseUrl.optional(),
    DATABASE_POOLING: z
      .enum(['session', 'transaction'], { error: 'must be session or transaction' })
      .default('session'),
    DATABASE_DIRECT_URL: databaseUrl.optional(),
    DATABASE_POOL_SIZE: wholeNumber(1, 1_000).prefault('10'),
    // Cookies, /docs and download URLs rely on paths that begin at the root.
    PUBLIC_URL: baseUrl
      .refine((value) => new URL(value).href === `${new URL(value).origin}/`, { error: 'must have no path' })
      .transform((value) => new URL(value).origin)
      .optional(),
    APP_URL: baseUrl.optional(),
    SECURITY_CONTACT: securityContact.optional(),
    CONSOLE: flag.prefault('1'),
    CORS_ORIGINS: corsOrigins.optional(),
    TRUST_PROXY: proxies.default(false),
    LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).optional(),
    UV_THREADPOOL_SIZE: wholeNumber(1, 1_024).prefault('4'),
    REGISTRATION: z.enum(registrationPolicies).prefault('open'),
    REGISTRATION_DOMAINS: mailDomains.prefault(''),
    SETUP_TOKEN: z.string().min(16, { error: 'must have at least 16 characters' }).optional(),
    SESSION_DAYS: wholeNumber(1, 3_650).prefault('30'),
    SESSION_IDLE_DAYS: wholeNumber(1, 3_650).optional(),
    REAUTHENTICATION_MINUTES: wholeNumber(0, 525_600).prefault('60'),
    PASSKEY_DOMAIN: z
      .string()
      .regex(HOST_NAME, { error: 'must be a host name without a port, such as example.com' })
      .optional(),
    SIGNING_SECRET: z.string().min(16, { error: 'must have at least 16 characters' }).optional(),
    SIGNING_SECRET_PREVIOUS: list
      .refine((values) => values.every(({ length }) => length >= 16), {
        error: 'must be a comma-separated list of secrets with at least 16 characters',
      })
      .optional(),
    ENCRYPTION_KEY: encryptionKey.optional(),
    ENCRYPTION_KEY_PREVIOUS: encryptionKeys.optional(),
    S3_BUCKET: z.string().optional(),
    S3_REGION: z.string().default('us-east-1'),
    S3_ENDPOINT: baseUrl.optional(),
    S3_PUBLIC_ENDPOINT: baseUrl.optional(),
    S3_ACCESS_KEY_ID: z.string().optional(),
    S3_SECRET_ACCESS_KEY: z.string().optional(),
    S3_FORCE_PATH_STYLE: flag.optional(),
    S3_PREFIX: z.string().optional(),
    RATE_LIMIT_SIGN_IN_PER_EMAIL: rateLimit(10),
    RATE_LIMIT_SIGN_IN_PER_ADDRESS: rateLimit(60),
    RATE_LIMIT_PUBLIC: rateLimit(60),
    RATE_LIMIT_SIGNED_IN: rateLimit(600),
    RATE_LIMIT_EXPORTS: rateLimit(10),
    RATE_LIMIT_EXEMPT_LOOPBACK: flag.optional(),
    QUOTA_WORKSPACES: quota(defaultQuotas.workspaces),
    QUOTA_MEMBERS: quota(defaultQuotas.members),
    QUOTA_ROOMS: quota(defaultQuotas.rooms),
    QUOTA_LABELS: quota(defaultQuotas.labels),
    QUOTA_ITEMS: quota(defaultQuotas.items),
    QUOTA_BYTES: quota(defaultQuotas.bytes),
    QUOTA_CONTACTS: quota(defaultQuotas.contacts),
    QUOTA_API_KEYS: quota(defaultQuotas.apiKeys),
    QUOTA_WEBHOOKS: quota(defaultQuotas.webhooks),
    QUOTA_CONNECTIONS: quota(defaultQuotas.connections),
    PARTICIPANT_TIMEOUT_SECONDS: wholeNumber(30, 86_400).prefault('300'),
    // S3 signs URLs for at most a week.
    DOWNLOAD_URL_SECONDS: wholeNumber(5, 604_800).prefault('900'),
    LIBRARY_MAX_BYTES: wholeNumber(1, 1_000_000_000_000).prefault('104857600'),
    RECORDING_MAX_BYTES: wholeNumber(1, 1_000_000_000_000).prefault('2147483648'),
    PARTICIPANT_RECORDING_BYTES: wholeNumber(0, 1_000_000_000_000_000).prefault('8589934592'),
    RECORDING_IDLE_SECONDS: wholeNumber(10, 43_200).prefault('900'),
    RECORDING_TIMEOUT_HOURS: wholeNumber(1, 720).prefault('24'),
    DRAIN_SECONDS: wholeNumber(0, 3_600).prefault('30'),
    RUN_WORKER: flag.prefault('1'),
    WEBHOOK_CONCURRENCY: wholeNumber(1, 10_000).prefault('256'),
    WEBHOOK_HOST_CONCURRENCY: wholeNumber(0, 10_000).prefault('50'),
    WEBHOOK_HOST_RATE: wholeNumber(0, 100_000).prefault('100'),
    WEBHOOK_ALLOW_PRIVATE: flag.optional(),
    WEBHOOK_RETENTION_DAYS: wholeNumber(1, 3_650).prefault('30'),
    AUDIT_RETENTION_DAYS: wholeNumber(0, 36_500).prefault('365'),
    ACCOUNT_LOG_DAYS: wholeNumber(1, 3_650).prefault('180'),
    EVENT_RETENTION_DAYS: retention(7),
    VISIT_RETENTION_DAYS: retention(1),
    SMTP_URL: smtpUrl.optional(),
    MAIL_FROM: mailbox.optional(),
    MAIL_RETENTION_DAYS: wholeNumber(1, 3_650).prefault('7'),
    INVITATIONS_PER_DAY: wholeNumber(1, 1_000_000).prefault('200'),
    BOOKINGS_PER_NETWORK: wholeNumber(0, 1_000_000).prefault('20'),
    BOOKINGS_PER_HOST: wholeNumber(0, 1_000_000).prefault('100'),
    CONNECTIONS_PER_NETWORK: wholeNumber(0, 1_000_000).prefault('1000'),
    LIVE_STREAMS_PER_USER: wholeNumber(1, 10_000).prefault('20'),
    LIVE_STREAMS: wholeNumber(1, 1_000_000).prefault('5000'),
    ICE_SERVERS: iceServers.optional(),
    TURN_URLS: turnUrls.optional(),
    TURN_SECRET: z.string().min(16, { error: 'must have at least 16 characters' }).optional(),
    TURN_CREDENTIAL_SECONDS: wholeNumber(20, 86_400).prefault('600'),
    MESH_MAX_PARTICIPANTS: wholeNumber(2, 100).prefault('8'),
    MESH_RELAY_ONLY: flag.prefault('0'),
    LIVEKIT_URL: livekitUrl.optional(),
    LIVEKIT_API_KEY: z.string().optional(),
    LIVEKIT_API_SECRET: z.string().optional(),
    LIVEKIT_EGRESS_S3_ACCESS_KEY_ID: z.string().optional(),
    LIVEKIT_EGRESS_S3_SECRET_ACCESS_KEY: z.string().optional(),
    LIVEKIT_EGRESS_S3_ENDPOINT: baseUrl.optional(),
    LIVEKIT_EGRESS_S3_PREFIX: egressPrefix.prefault('egress'),
  })
  .refine((env) => (env.S3_ACCESS_KEY_ID === undefined) === (env.S3_SECRET_ACCESS_KEY === undefined), {
    path: ['S3_SECRET_ACCESS_KEY'],
    error: 'must be set together with S3_ACCESS_KEY_ID',
  })
  // With `open` everybody may register, and an operator who names domains does not mean that.
  .refine((env) => env.REGISTRATION === 'invited' || env.REGISTRATION_DOMAINS.length === 0, {
    path: ['REGISTRATION_DOMAINS'],
    error: 'must be set together with REGISTRATION=invited',
  })
  .refine((env) => env.SMTP_URL === undefined || env.MAIL_FROM !== undefined, {
    path: ['MAIL_FROM'],
    error: 'must be set together with SMTP_URL, because it names the sender of all mail',
  })
  .refine((env) => env.DATABASE_URL !== undefined || env.DATABASE_DIRECT_URL === undefined, {
    path: ['DATABASE_DIRECT_URL'],
    error: 'can be set only with DATABASE_URL',
  })
  .refine((env) => env.DATABASE_POOLING === 'session' || env.DATABASE_DIRECT_URL !== undefined, {
    path: ['DATABASE_DIRECT_URL'],
    error: 'must be set with DATABASE_POOLING=transaction: migrations and notifications need a session',
  })
  .refine((env) => (env.TURN_URLS === undefined) === (env.TURN_SECRET === undefined), {
    path: ['TURN_SECRET'],
    error: 'must be set together with TURN_URLS',
  })
  .refine((env) => !env.MESH_RELAY_ONLY || hasTurn(env), {
    path: ['MESH_RELAY_ONLY'],
    error: 'can be 1 only with TURN_URLS, or with a TURN server in ICE_SERVERS',
  })
  .refine((env) => areTogether(env.LIVEKIT_URL, env.LIVEKIT_API_KEY, env.LIVEKIT_API_SECRET), {
    path: ['LIVEKIT_URL'],
    error: 'must be set together with LIVEKIT_API_KEY and LIVEKIT_API_SECRET',
  })
  .refine((env) => areTogether(env.LIVEKIT_EGRESS_S3_ACCESS_KEY_ID, env.LIVEKIT_EGRESS_S3_SECRET_ACCESS_KEY), {
    path: ['LIVEKIT_EGRESS_S3_ACCESS_KEY_ID'],
    error: 'must be set together with LIVEKIT_EGRESS_S3_SECRET_ACCESS_KEY',
  })
  .refine((env) => !hasEgress(env) || (env.LIVEKIT_URL !== undefined && env.S3_BUCKET !== undefined), {
    path: ['LIVEKIT_EGRESS_S3_ACCESS_KEY_ID'],
    error: 'can be set only with LIVEKIT_URL and S3_BUCKET: that server writes recordings into the bucket',
  })
  .refine((env) => !hasEgress(env) || isApart(env.LIVEKIT_EGRESS_S3_PREFIX, env.S3_PREFIX), {
    path: ['LIVEKIT_EGRESS_S3_PREFIX'],
    error: 'must be apart from the files of the service, which are in v1 below S3_PREFIX',
  })
  .refine((env) => env.METRICS_PORT !== env.PORT || env.PORT === 0, {
    path: ['METRICS_PORT'],
    error: 'must differ from PORT',
  })
  .refine((env) => env.RUN_WORKER || env.DATABASE_URL !== undefined, {
    path: ['RUN_WORKER'],
    error: 'can be 0 only with DATABASE_URL: with the embedded database, the server does the background work',
  });

export type Config = z.output<typeof Environment> & {
  /** The OpenID providers, from the settings OIDC_<NAME>_... */
  openidProviders: readonly OpenidProvider[];
};

/** The names of all settings, except those of OpenID providers. */
export const settingNames: readonly string[] = Object.keys(Environment.shape);

/** The names of all settings, with those of the OpenID providers that `env` names. */
export function settingNamesFor(env: Readonly<Record<string, string | undefined>>): string[] {
  return [...settingNames, ...openidSettingNames(env)];
}

/** Whether the service runs in production (not in development). */
export function isProduction({ NODE_ENV }: Pick<Config, 'NODE_ENV'>): boolean {
  return NODE_ENV === 'production';
}

/**
 * Parses the settings. A variable that is empty counts as not set; unknown ones are ignored.
 *
 * @throws ConfigError that names every invalid setting
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const variables = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const result = Environment.safeParse(variables);
  const openid = readOpenidProviders(variables, { allowHttp: !isProduction({ NODE_ENV: variables.NODE_ENV }) });
  if (result.success && openid.problems.length === 0) return { ...result.data, openidProviders: openid.providers };
  const lines = result.error?.issues.map(({ path, message }) => {
    const name = String(path[0]);
    return message.startsWith(name) ? message : `${name} ${message}`;
  });
  throw new ConfigError([...(lines ?? []), ...openid.problems]);
}

/** Whether all of the values are set, or none. */
function areTogether(...values: readonly (string | undefined)[]): boolean {
  return new Set(values.map((value) => value === undefined)).size === 1;
}

function wholeNumber(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, { error: message })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error: message });
}

/** A number of days, at least `min`; 0, the default, means no limit. */
function retention(min: number) {
  const message = `must be 0 or a whole number from ${min} to 36500`;
  return wholeNumber(0, 36_500)
    .refine((days) => days === 0 || days >= min, { error: message })
    .prefault('0');
}

/** A rate limit in calls per minute; 0 switches it off. */
function rateLimit(callsPerMinute: number) {
  return wholeNumber(0, 1_000_000_000).prefault(String(callsPerMinute));
}

/** A quota; 0 switches it off. */
function quota(max: number) {
  return wholeNumber(0, 999_999_999_999_999).prefault(String(max));
}

/** Whether a string is a scheme, host and port without a path, as in the header `Origin`. */
function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value;
}

/** Whether a string is an IP address, or a network such as 10.0.0.0/8. */
function isNetwork(value: string): boolean {
  const [address = '', bits] = value.split('/');
  const max = { 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return bits === undefined ? max > 0 : /^\d{1,3}$/.test(bits) && Number(bits) <= max;
}
