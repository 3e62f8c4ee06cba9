/** How a mail provider maps addresses to a mailbox. */
type Provider = {
  /** The domain that replaces all domains of the provider. */
  domain: string;
  /** Characters in the local part that the provider ignores. */
  ignored?: RegExp;
  /** The character that starts a tag, if the provider uses a separator other than the plus sign. */
  tag?: RegExp;
  /** Whether `anything@name.domain` is delivered to `name@domain`. */
  hasSubdomains?: true;
};

const google: Provider = { domain: 'gmail.com', ignored: /\./g };
const yahoo = (domain: string): Provider => ({ domain, tag: /-.*$/ });
const proton: Provider = { domain: 'proton.me', ignored: /[._-]/g };
const yandex: Provider = { domain: 'yandex.ru', ignored: /[.-]/g };
const apple: Provider = { domain: 'icloud.com' };

const providers = new Map<string, Provider>([
  ...['gmail.com', 'googlemail.com'].map((domain) => [domain, google] as const),
  ...['proton.me', 'protonmail.com', 'protonmail.ch', 'pm.me'].map((domain) => [domain, proton] as const),
  ...['yandex.ru', 'yandex.com', 'yandex.by', 'yandex.kz', 'ya.ru'].map((domain) => [domain, yandex] as const),
  ...['icloud.com', 'me.com', 'mac.com'].map((domain) => [domain, apple] as const),
  ...['yahoo.com', 'ymail.com', 'rocketmail.com', 'yahoo.co.uk', 'yahoo.de', 'yahoo.fr', 'yahoo.it', 'yahoo.es'].map(
    (domain) => [domain, yahoo(domain)] as const,
  ),
  ...['fastmail.com', 'fastmail.fm'].map((domain) => [domain, { domain, hasSubdomains: true } as const] as const),
]);

/**
 * Returns the mailbox that probably receives the mail of a normalized address, so that one person's bookings and mail
 * can be counted. Removes the tag after a plus sign, and handles large providers: dots at Google, several domains for
 * one mailbox, tags after a hyphen at Yahoo, and subdomains at Fastmail. Use the result only for counting, because some
 * providers deliver addresses that differ only in a tag to different mailboxes.
 */
export function toMailbox(email: string): string {
  const [local = '', domain = ''] = email.split('@');
  const { name, provider } = findProvider(local, domain);
  if (provider === undefined) return `${name}@${domain}`;
  const base = provider.tag === undefined ? name : withoutTag(name, provider.tag);
  return `${provider.ignored === undefined ? base : base.replaceAll(provider.ignored, '')}@${provider.domain}`;
}

function findProvider(local: string, domain: string): { name: string; provider: Provider | undefined } {
  const [subdomain = '', ...rest] = domain.split('.');
  const parent = providers.get(rest.join('.'));
  if (parent?.hasSubdomains) return { name: subdomain, provider: parent };
  return { name: withoutTag(local, /\+.*$/), provider: providers.get(domain) };
}

/** A separator at the beginning does not start a tag. */
function withoutTag(local: string, tag: RegExp): string {
  return local.slice(0, 1) + local.slice(1).replace(tag, '');
}
