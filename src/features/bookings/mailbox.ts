const GOOGLE = new Set(['gmail.com', 'googlemail.com']);

/**
 * The mailbox that probably receives the mail of a normalized address, to count the bookings of one person: without the
 * tag after a plus and, at Google, without the dots, which Google ignores. Used for counting only: other providers may
 * treat addresses that differ only in such a tag as different mailboxes.
 */
export function toMailbox(email: string): string {
  const [local = '', domain = ''] = email.split('@');
  // A plus at the beginning does not start a tag.
  const name = local.replace(/(.)\+.*$/, '$1');
  return GOOGLE.has(domain) ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`;
}
