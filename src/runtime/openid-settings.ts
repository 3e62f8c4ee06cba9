/** The settings of OpenID providers: OIDC_<NAME>_ISSUER, and others with the same <NAME>. */

import { isLoopback } from '../auth/networks.ts';
import type { OpenidProvider } from '../auth/openid-providers.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const SETTING = /^OIDC_([A-Z0-9]+(?:_[A-Z0-9]+)*?)_(?:ISSUER|CLIENT_ID|CLIENT_SECRET|LABEL|EMAIL_CLAIM|TRUST_EMAIL)$/;
const REQUIRED = ['ISSUER', 'CLIENT_ID', 'CLIENT_SECRET'] as const;
const OPTIONAL = ['LABEL', 'EMAIL_CLAIM', 'TRUST_EMAIL'] as const;
const CLAIM = /^[\w:./-]{1,100}$/;
const FLAGS = new Map([
  ['0', false],
  ['1', true],
  ['false', false],
  ['true', true],
]);
const MAX_PROVIDERS = 20;
const MAX_NAME_LENGTH = 30;
const MAX_LABEL_LENGTH = 60;

/** The names of the settings of all providers that `env` names. Empty variables count as not set. */
export function openidSettingNames(env: Environment): string[] {
  return providerNames(env).flatMap((name) => [...REQUIRED, ...OPTIONAL].map((suffix) => `OIDC_${name}_${suffix}`));
}

/** Reads the providers, in the order of their names. `problems` has one line for each invalid setting. */
export function readOpenidProviders(
  env: Environment,
  options: { allowHttp: boolean },
): { providers: OpenidProvider[]; problems: string[] } {
  const names = providerNames(env);
  const problems = names.flatMap((name) => findProblems(env, name, options));
  if (names.length > MAX_PROVIDERS) problems.push(`OIDC_<NAME>_ISSUER can be set for at most ${MAX_PROVIDERS} names`);
  if (problems.length > 0) return { providers: [], problems };
  return { providers: names.map((name) => readProvider(env, name)), problems };
}

function providerNames(env: Environment): string[] {
  const names = Object.keys(env).flatMap((name) => (env[name] ? (SETTING.exec(name)?.[1] ?? []) : []));
  return [...new Set(names)].sort();
}

function findProblems(env: Environment, name: string, { allowHttp }: { allowHttp: boolean }): string[] {
  const given =
    REQUIRED.find((suffix) => env[`OIDC_${name}_${suffix}`]) ??
    OPTIONAL.find((suffix) => env[`OIDC_${name}_${suffix}`]) ??
    'LABEL';
  const missing = REQUIRED.filter((suffix) => !env[`OIDC_${name}_${suffix}`]);
  const problems = missing.map((suffix) => `OIDC_${name}_${suffix} must be set together with OIDC_${name}_${given}`);
  if (name.length > MAX_NAME_LENGTH) problems.push(`OIDC_${name}_${given} has a name longer than ${MAX_NAME_LENGTH}`);
  const { [`OIDC_${name}_ISSUER`]: issuer, [`OIDC_${name}_LABEL`]: label = '' } = env;
  if (issuer && !isIssuer(issuer, allowHttp))
    problems.push(`OIDC_${name}_ISSUER must be a URL that begins with https:// and has no query`);
  if (label.length > MAX_LABEL_LENGTH)
    problems.push(`OIDC_${name}_LABEL must have at most ${MAX_LABEL_LENGTH} characters`);
  const { [`OIDC_${name}_EMAIL_CLAIM`]: claim, [`OIDC_${name}_TRUST_EMAIL`]: trust } = env;
  if (claim && !CLAIM.test(claim)) problems.push(`OIDC_${name}_EMAIL_CLAIM must be the name of a claim, such as upn`);
  if (trust && !FLAGS.has(trust)) problems.push(`OIDC_${name}_TRUST_EMAIL must be 0 or 1`);
  return problems;
}

/** Plain HTTP is for trying out a provider on the same machine. */
function isIssuer(text: string, allowHttp: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash, username } = new URL(text);
  const isLocal = hostname === 'localhost' || hostname === '[::1]' || isLoopback(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && allowHttp && isLocal)) return false;
  return search === '' && hash === '' && username === '';
}

function readProvider(env: Environment, name: string): OpenidProvider {
  // Missing settings were reported above.
  const read = (suffix: string): string => env[`OIDC_${name}_${suffix}`] ?? '';
  return {
    id: name.toLowerCase().replaceAll('_', '-'),
    name: read('LABEL').trim() || toLabel(name),
    issuer: read('ISSUER'),
    clientId: read('CLIENT_ID'),
    clientSecret: read('CLIENT_SECRET'),
    emailClaim: read('EMAIL_CLAIM') || 'email',
    trustsEmail: FLAGS.get(read('TRUST_EMAIL')) ?? false,
  };
}

/** `MY_COMPANY` becomes `My Company`. */
function toLabel(name: string): string {
  return name
    .split('_')
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join(' ');
}
