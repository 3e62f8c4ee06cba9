/** Sends messages to a mail server. */
import nodemailer from 'nodemailer';
import { isLoopback } from '../auth/networks.ts';
import { inTime } from '../core/in-time.ts';
import { MINUTE_MS } from '../core/time.ts';
import { mailLanes } from './kinds.ts';
import type { RenderedMail } from './render-mail.ts';

export type Mailbox = { name: string; address: string };

/** `messageId` and `date` are the same on every attempt, so that receivers can drop a second copy. */
export type OutgoingMail = RenderedMail & { messageId: string; date: Date; to: string };

/**
 * The outcome of an attempt: the server accepted the message, the server rejected it permanently, or the attempt should
 * be repeated. A connection that is lost after the message was sent counts as `retry`, although the message may have
 * arrived.
 */
export type SendResult = { kind: 'accepted' } | { kind: 'refused' | 'retry'; reason: string; isOurFault: boolean };

export type MailTransport = {
  send(mail: OutgoingMail): Promise<SendResult>;
  /** Connects and signs in to the server without sending anything. Resolves with the reason for a failure, or null. */
  check(): Promise<string | null>;
  close(): void;
};

const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 };
/** The maximum time for an attempt, even if the server answers each command just in time. */
const SEND_TIMEOUT_MS = 2 * MINUTE_MS;
const tookTooLong: SendResult = { kind: 'retry', reason: 'The mail server took too long', isOurFault: false };
const MAX_CONNECTIONS = Object.values(mailLanes).reduce<number>((sum, connections) => sum + connections, 0);
const MAX_REASON_LENGTH = 300;
/** The codes of nodemailer for a server that cannot be reached or does not accept our configuration. */
const UNUSABLE_SERVER: ReadonlySet<string> = new Set(['EAUTH', 'ESOCKET', 'EDNS', 'ETLS', 'ETIMEDOUT']);
/** The type that nodemailer gives to a timeout when a server stops responding after its greeting. */
const LATE_TIMEOUT = 'SOCKET_TIMEOUT';

/** What nodemailer's errors contain besides their message. */
type SmtpError = { code?: string; responseCode?: number; message?: string; timeoutType?: string };

/**
 * Creates the transport to the server of `smtpUrl`. `smtps:` uses TLS from the start. `smtp:` requires STARTTLS, except
 * to this machine or with the parameter `tls=off`. `ca` replaces the certificate authorities that are trusted.
 */
export function createSmtpTransport({
  smtpUrl,
  from,
  ca,
  timeouts = TIMEOUTS,
}: {
  smtpUrl: string;
  from: Mailbox;
  ca?: string;
  timeouts?: typeof TIMEOUTS;
}): MailTransport {
  const url = new URL(smtpUrl);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isPlain = url.searchParams.get('tls') === 'off';
  const transport = nodemailer.createTransport({
    host,
    port: Number(url.port) || (url.protocol === 'smtps:' ? 465 : 587),
    secure: url.protocol === 'smtps:',
    // Without this option, mail goes unencrypted and unauthenticated to a server that lacks STARTTLS.
    requireTLS: url.protocol === 'smtp:' && !isPlain && host !== 'localhost' && !isLoopback(host),
    ignoreTLS: isPlain,
    ...(url.username && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    ...(ca !== undefined && { tls: { ca } }),
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...timeouts,
  });
  const domain = from.address.split('@')[1] ?? 'localhost';
  return {
    async send({ messageId, date, to, subject, text, html, calendar, replyTo }) {
      const sent = transport
        .sendMail({
          messageId: `<${messageId}@${domain}>`,
          date,
          from,
          to: { name: '', address: to },
          ...(replyTo !== null && { replyTo: { name: '', address: replyTo } }),
          headers: { 'Auto-Submitted': 'auto-generated' },
          subject,
          text,
          html,
          ...(calendar && {
            icalEvent: { method: calendar.method, filename: 'invite.ics', content: calendar.text },
          }),
        })
        .then((): SendResult => ({ kind: 'accepted' }), toResult);
      return inTime(sent, SEND_TIMEOUT_MS, tookTooLong);
    },
    check: () =>
      transport.verify().then(
        () => null,
        (error: unknown) => toResult(error).reason,
      ),
    close: () => transport.close(),
  };
}

/**
 * Whether a rejection is permanent depends on the status of the SMTP response, because nodemailer uses the same `code`
 * for temporary and permanent rejections. A wrong password is the operator's fault, so messages are retried until the
 * operator corrects it.
 */
function toResult(error: unknown): Exclude<SendResult, { kind: 'accepted' }> {
  const { code, responseCode, message, timeoutType } = error as SmtpError;
  const isOurFault = code !== undefined && UNUSABLE_SERVER.has(code) && timeoutType !== LATE_TIMEOUT;
  const isRefused = !isOurFault && responseCode !== undefined && responseCode >= 500;
  const reason = String(message ?? error).slice(0, MAX_REASON_LENGTH);
  return { kind: isRefused ? 'refused' : 'retry', reason, isOurFault };
}
