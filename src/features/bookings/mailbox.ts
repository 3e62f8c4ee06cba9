const GOOGLE = new Set(['gmail.com', 'googlemail.com']);

/**
 * Returns the mailbox that probably receives the mail of a normalized address, so that one person's bookings can be
 * counted. Removes the tag after a plus sign and, for Google, the dots, which Google ignores. Use it for counting only:
 * other providers may treat addresses that differ only in such a tag as different mailboxes.
 */
export function toMailbox(email: string): string {
  const [local = '', domain = ''] = email.split('@');
  // A plus at the beginning does not start a tag.
  const name = local.replace(/(.)\+.*$/, '$1');
  return GOOGLE.has(domain) ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`;
}
