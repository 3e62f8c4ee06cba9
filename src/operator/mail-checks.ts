/** What `lynxroom doctor` checks about mail. */
import { createSmtpTransport } from '../mail/smtp.ts';
import type { Config } from '../runtime/config.ts';
import type { Finding } from './finding.ts';

/** Connects to the mail server, and signs in if SMTP_URL has a user, as the worker does. Sends nothing. */
export async function checkMail({ SMTP_URL: smtpUrl, MAIL_FROM: from }: Config): Promise<Finding> {
  if (smtpUrl === undefined || from === undefined)
    return { check: 'mail', state: 'ok', detail: 'SMTP_URL is not set: messages are stored but not sent' };
  // Without the user and the password.
  const { host, username } = new URL(smtpUrl);
  const step = username === '' ? 'Connected' : 'Signed in';
  const transport = createSmtpTransport({ smtpUrl, from });
  try {
    const failure = await transport.check();
    return failure === null
      ? { check: 'mail', state: 'ok', detail: `${step} to ${host}; mail is sent from ${from.address}` }
      : { check: 'mail', state: 'problem', detail: `${host}: ${failure}. Correct SMTP_URL` };
  } finally {
    transport.close();
  }
}
