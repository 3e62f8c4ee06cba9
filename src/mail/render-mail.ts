/** Renders what a template returns: the subject, the plain text, and the same as HTML. */
import { escapeHtml } from '../core/escape-html.ts';
import type { MailContent } from './templates/content.ts';

export type RenderedMail = { subject: string; text: string; html: string };

const BODY_STYLE =
  'margin:0 auto;max-width:34em;padding:24px 16px;font:16px/1.6 system-ui,-apple-system,Segoe UI,Roboto,sans-serif';
const BUTTON_STYLE =
  'display:inline-block;padding:10px 20px;border-radius:6px;background:#4f46e5;color:#ffffff;font-weight:600;' +
  'text-decoration:none';

/** `baseUrl` is the URL in front of links, without a trailing slash. */
export function renderMail(content: MailContent, baseUrl: string): RenderedMail {
  const facts = (content.facts ?? []).map(([label, value]) => [label, toLine(value)] as const);
  const oneLine = { ...content, facts };
  const url = content.action ? baseUrl + content.action.link : null;
  return { subject: content.subject, text: toText(oneLine, url), html: toHtml(oneLine, url) };
}

/** Without line breaks and other control characters, which could look like text of the service. */
function toLine(value: string): string {
  return value.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}

function toText({ paragraphs, facts = [], action, ending }: MailContent, url: string | null): string {
  const parts = [
    ...paragraphs,
    facts.map(([label, value]) => `${label}: ${value}`).join('\n'),
    action ? `${action.label}:\n${url}` : '',
    ending,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function toHtml({ subject, paragraphs, facts = [], action, ending }: MailContent, url: string | null): string {
  const rows = facts.map(([label, value]) => `<dt>${escapeHtml(label)}</dt><dd><b>${escapeHtml(value)}</b></dd>`);
  const link = url === null ? '' : escapeHtml(url);
  const parts = [
    `<h1 style="font-size:22px;line-height:1.3">${escapeHtml(subject)}</h1>`,
    ...paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`),
    rows.length > 0 ? `<dl>${rows.join('')}</dl>` : '',
    action ? `<p><a href="${link}" style="${BUTTON_STYLE}">${escapeHtml(action.label)}</a></p>` : '',
    action ? `<p>Or copy this address to your browser:<br><a href="${link}">${link}</a></p>` : '',
    `<p>${escapeHtml(ending)}</p>`,
  ];
  return `<!doctype html>
<html lang="en">
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
