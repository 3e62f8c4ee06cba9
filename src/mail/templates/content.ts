/** What a template returns. `render-mail.ts` renders it as plain text and as HTML, so that both always say the same. */
import type { LinkPath } from '../kinds.ts';

export type MailContent = {
  subject: string;
  paragraphs: readonly string[];
  /** What the reader can check, as pairs of a label and a value. */
  facts?: readonly (readonly [label: string, value: string])[];
  /** The link that the mail is about. */
  action?: { label: string; link: LinkPath };
  /** What to do if the reader did not expect the mail. */
  ending: string;
};

export const NOT_YOU = 'If this was not you, set a new password now and sign out all other sessions.';

const MAX_QUOTED = 60;

/**
 * A text that a person chose, for mail to somebody who may not know them: the address of an account may not be
 * confirmed. It is short, and without anything that mail programs turn into a link.
 */
export function quoteStranger(text: string): string {
  const unlinked = text.replace(/[.:/@\\](?=\S)/g, ' ').replace(/\s+/g, ' ');
  return unlinked.length > MAX_QUOTED ? `${unlinked.slice(0, MAX_QUOTED)}…` : unlinked;
}

/** A time for people everywhere, such as "2026-11-22 16:40 UTC". */
export function formatTime(unixSeconds: number): string {
  return `${new Date(unixSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
