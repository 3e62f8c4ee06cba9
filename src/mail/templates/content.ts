/**
 * The content that a template returns. `render-mail.ts` renders it as plain text and as HTML, so that both always
 * match.
 */
import type { MailedBooking, PagePath } from '../kinds.ts';

export type MailLink = { label: string; link: PagePath };

export type MailContent = {
  subject: string;
  paragraphs: readonly string[];
  /** Facts that the reader can check, each with a label and a value. */
  facts?: readonly (readonly [label: string, value: string])[];
  /** The link that the mail is about. */
  action?: MailLink;
  otherLinks?: readonly MailLink[];
  /** Adds a meeting to the reader's calendar, or removes it. */
  calendar?: { method: 'REQUEST' | 'CANCEL'; booking: MailedBooking };
  /** What to do if the reader did not expect the mail. */
  ending: string;
};

export const NOT_YOU = 'If this was not you, set a new password now and sign out all other sessions.';

/** In code points. */
const MAX_QUOTED = 60;

/** Characters by which mail programs recognize an address, including the dots of other scripts. */
const ADDRESS_PARTS = /[.:/@\\\u3002\uff0e\uff61](?=\S)/g;

/**
 * Shortens text that a person chose, and removes everything that mail programs turn into a link. Use it in mail whose
 * recipient may not know that person: the recipient's account may have an unconfirmed address that belongs to somebody
 * else.
 */
export function quoteStranger(text: string): string {
  const characters = [...text.replace(ADDRESS_PARTS, ' ').replace(/\s+/g, ' ')];
  return characters.length > MAX_QUOTED ? `${characters.slice(0, MAX_QUOTED).join('')}…` : characters.join('');
}

/** A time that is unambiguous in every time zone, such as "2026-11-22 16:40 UTC". */
export function formatTime(unixSeconds: number): string {
  return `${new Date(unixSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
