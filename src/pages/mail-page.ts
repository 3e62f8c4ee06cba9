/**
 * `/dev/mail`: the messages that would have been sent, for developers. Anyone who reads the links in them can take over
 * accounts, so the page is served only without a mail server, outside production, and to a browser on this machine.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isLoopback } from '../auth/networks.ts';
import { AppError } from '../core/errors.ts';
import { escapeHtml } from '../core/escape-html.ts';
import { isDirect } from '../http/context.ts';
import { type ListedMail, listMail, type ReadMail, readMail } from '../mail/read-outbox.ts';
import type { Services } from '../services.ts';
import { renderPage } from './page-shell.ts';
import { sendPage } from './serve-pages.ts';

const MAX_LISTED = 50;

export function serveMailPage(app: FastifyInstance, { db, sealer, settings }: Services): void {
  app.get('/dev/mail', async (request, reply) => {
    requireDeveloper(request);
    const messages = await listMail(db, { limit: MAX_LISTED });
    return sendPage(reply, renderPage({ title: 'Mail', body: toList(messages), script: null }));
  });

  app.get<{ Params: { id: string } }>('/dev/mail/:id', async (request, reply) => {
    requireDeveloper(request);
    const { id } = request.params;
    const baseUrl = settings.appUrl ?? settings.publicUrl ?? `${request.protocol}://${request.host}`;
    const message = /^\d{1,9}$/.test(id) ? await readMail(db, sealer, Number(id), baseUrl) : null;
    if (message === null) throw notFound();
    const title = message.content?.subject ?? message.kind;
    return sendPage(reply, renderPage({ title, body: toMessage(message), script: null }));
  });
}

/** Throws 404 unless the request comes from a browser on this machine and was not caused by another site. */
function requireDeveloper(request: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site = 'none' } = request.headers;
  const isOwnRequest = origin === undefined && (site === 'none' || site === 'same-origin');
  if (!isOwnRequest || !isDirect(request) || !isLoopback(request.ip)) throw notFound();
}

function notFound(): AppError {
  return new AppError('NOT_FOUND', 'Not found');
}

function toList(messages: readonly ListedMail[]): string {
  if (messages.length === 0) return '<p>No messages yet.</p>';
  const items = messages.map(
    ({ id, kind, to_address, created_at, state }) =>
      `<li><a href="/dev/mail/${id}">${escapeHtml(kind)}</a> to ${escapeHtml(to_address)}<br>` +
      `<span class="hint">${created_at.toISOString()}, ${state}</span></li>`,
  );
  return `<p>Without SMTP_URL, messages are not sent. They are here instead.</p>\n<ul>${items.join('\n')}</ul>`;
}

function toMessage({ to_address, content, state }: ReadMail): string {
  const text = content === null ? `The text was deleted when the state became "${state}".` : content.text;
  const linked = escapeHtml(text).replace(/https?:\/\/[^\s<]+/g, (url) => `<a href="${url}">${url}</a>`);
  return `<p>To ${escapeHtml(to_address)}</p>\n<pre>${linked}</pre>\n<p><a href="/dev/mail">All messages</a></p>`;
}
