/** Renders the content that a template returns: the subject, the plain text and the HTML. */
import { escapeHtml } from '../core/escape-html.ts';
import { directionOf } from '../languages/languages.ts';
import { toInvitation } from './calendar.ts';
import type { MailSource } from './kinds.ts';
import { toLine } from './lines.ts';
import type { MailContent } from './templates/content.ts';
import { createMailWriter } from './texts.ts';

/** A calendar file (iCalendar). `method` must match the method in the file. */
export type CalendarFile = { method: 'REQUEST' | 'CANCEL'; text: string };

export type RenderedMail = {
  subject: string;
  text: string;
  html: string;
  calendar: CalendarFile | null;
  replyTo: string | null;
};

/** A link with its whole URL. */
type Link = { label: string; url: string };

const BODY_STYLE =
  'margin:0 auto;max-width:34em;padding:24px 16px;font:16px/1.6 system-ui,-apple-system,Segoe UI,Roboto,sans-serif';
const BUTTON_STYLE =
  'display:inline-block;padding:10px 20px;border-radius:6px;background:#4f46e5;color:#ffffff;font-weight:600;' +
  'text-decoration:none';

export function renderMail({ calendar, ...content }: MailContent, source: MailSource): RenderedMail {
  const facts = (content.facts ?? []).map(([label, value]) => [label, toLine(value)] as const);
  const oneLine = { ...content, facts };
  const links = [...(content.action ? [content.action] : []), ...(content.otherLinks ?? [])].map(({ label, link }) => ({
    label,
    url: source.baseUrl + link,
  }));
  return {
    subject: content.subject,
    text: toText(oneLine, links),
    html: toHtml(oneLine, links),
    calendar: calendar ? { method: calendar.method, text: toInvitation(calendar, source) } : null,
    replyTo: content.replyTo ?? null,
  };
}

/** The source for mail that is not sent because there is no mail server. */
export function toLocalSource(baseUrl: string): MailSource {
  return { baseUrl, address: `noreply@${new URL(baseUrl).hostname}` };
}

function toText({ paragraphs, facts = [], ending }: MailContent, links: readonly Link[]): string {
  const parts = [
    ...paragraphs,
    facts.map(([label, value]) => `${label}: ${value}`).join('\n'),
    ...links.map(({ label, url }) => `${label}:\n${url}`),
    ending,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function toHtml(
  { language = 'en', subject, paragraphs, facts = [], ending }: MailContent,
  links: readonly Link[],
): string {
  const copyAddress = escapeHtml(createMailWriter(language)('mail.copyAddress'));
  const rows = facts.map(([label, value]) => `<dt>${escapeHtml(label)}</dt><dd><b>${escapeHtml(value)}</b></dd>`);
  const [action, ...others] = links.map(({ label, url }) => ({ label: escapeHtml(label), url: escapeHtml(url) }));
  const parts = [
    `<h1 style="font-size:22px;line-height:1.3">${escapeHtml(subject)}</h1>`,
    ...paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`),
    rows.length > 0 ? `<dl>${rows.join('')}</dl>` : '',
    action ? `<p><a href="${action.url}" style="${BUTTON_STYLE}">${action.label}</a></p>` : '',
    action ? `<p>${copyAddress}<br><a href="${action.url}">${action.url}</a></p>` : '',
    ...others.map(({ label, url }) => `<p>${label}:<br><a href="${url}">${url}</a></p>`),
    `<p>${escapeHtml(ending)}</p>`,
  ];
  return `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(subject)}</title>
</head>
<body style="${BODY_STYLE}">
${parts.filter((part) => part !== '').join('\n')}
</body>
</html>
`;
}
