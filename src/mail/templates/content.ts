/**
 * The content that a template returns. `render-mail.ts` renders it as plain text and as HTML, so that both always
 * match.
 */
import type { Language } from '../../languages/languages.ts';
import type { MailedBooking, PagePath } from '../kinds.ts';

export type MailLink = { label: string; link: PagePath };

/** `link` is for the reader of the entry only, because it may contain a token. */
export type CalendarEntry = { method: 'REQUEST' | 'CANCEL'; booking: MailedBooking; link?: MailLink };

export type MailContent = {
  /** Absent: English. */
  language?: Language;
  subject: string;
  paragraphs: readonly string[];
  /** Facts that the reader can check, each with a label and a value. */
  facts?: readonly (readonly [label: string, value: string])[];
  /** The link that the mail is about. */
  action?: MailLink;
  otherLinks?: readonly MailLink[];
  /** Adds a meeting to the reader's calendar, or removes it. */
  calendar?: CalendarEntry;
  /** The address to which programs send an answer. Absent: to the sender, who reads nothing. */
  replyTo?: string;
  /** What to do if the reader did not expect the mail. */
  ending: string;
};

export const NOT_YOU = 'If this was not you, set a new password now and sign out all other sessions.';

/** In code points. */
const MAX_QUOTED = 60;

/** The characters that divide the parts of a link, including the dots of other scripts. */
const SEPARATORS = /[.:/@\\\u3002\uff0e\uff61]/g;
/** Schemes with slashes, schemes without, shares of Windows, and addresses. */
const CLEAR_LINK = /\w:\/\/|\b(?:mailto|tel|sms|sip|xmpp|javascript|data):|\\\\|[^\s@]@[^\s@]/i;
/** A name after which a dot and another name follow, which may be a top-level domain. */
const LAST_NAME = /(?<=[\p{L}\p{M}\p{N}][.\u3002])(?:xn--[\w-]+|\p{L}[\p{L}\p{M}]+)(?![\p{L}\p{M}\p{N}])/gu;
/** Takes no space, and ends what mail programs recognize as a link. */
const WORD_JOINER = '\u2060';

const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/**
 * Shortens text that a person chose, and keeps mail programs from turning parts of it into links: it puts invisible
 * characters into addresses, URLs and names of hosts, so that all text looks as it was written. Use it in mail whose
 * recipient may not know that person: the recipient's account may have an unconfirmed address that belongs to somebody
 * else.
 */
export function quoteStranger(text: string): string {
  const characters = [...text.replace(/\s+/g, ' ')];
  const quoted = characters.length > MAX_QUOTED ? `${characters.slice(0, MAX_QUOTED).join('')}…` : characters.join('');
  return quoted.replace(/\S+/g, (word) =>
    becomesLink(word) ? word.replace(SEPARATORS, `${WORD_JOINER}$&${WORD_JOINER}`) : word,
  );
}

/** Whether a mail program may make a link of a part of this word, such as "evil.com", but not "Node.js" or "1:1". */
function becomesLink(word: string): boolean {
  const plain = word.normalize('NFKC').replace(/\p{Cf}/gu, '');
  return CLEAR_LINK.test(plain) || (plain.match(LAST_NAME) ?? []).some(mayBeTopLevel);
}

/** Every top-level domain of two letters is the code of a region. Longer ones are too many to list. */
function mayBeTopLevel(name: string): boolean {
  return !/^[a-z]{2}$/i.test(name) || regions.of(name.toUpperCase()) !== undefined;
}

/** A time that is unambiguous in every time zone, such as "2026-11-22 16:40 UTC". */
export function formatTime(unixSeconds: number): string {
  return `${new Date(unixSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
