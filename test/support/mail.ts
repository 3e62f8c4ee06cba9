/** Reads the messages that the service would send. */
import type { MailKind } from '../../src/mail/kinds.ts';
import { listMail, readMail } from '../../src/mail/read-outbox.ts';
import type { RenderedMail } from '../../src/mail/render-mail.ts';
import type { TestApp } from './test-app.ts';

/** The messages to an address that wait or were kept, oldest first. */
export async function mailTo(app: TestApp, to: string): Promise<(RenderedMail & { kind: MailKind })[]> {
  const { db, sealer } = app.services;
  const listed = (await listMail(db, { to, limit: 100 })).reverse();
  const messages = await Promise.all(listed.map(({ id }) => readMail(db, sealer, id, app.url)));
  return messages.flatMap((message) => (message?.content ? [{ ...message.content, kind: message.kind }] : []));
}

/** The token of the link in the newest message of a kind to an address. Throws if there is none. */
export async function tokenFor(app: TestApp, to: string, kind: MailKind): Promise<string> {
  const message = (await mailTo(app, to)).findLast((one) => one.kind === kind);
  const token = /#token=([\w-]+)/.exec(message?.text ?? '')?.[1];
  if (token === undefined) throw new Error(`There is no link of the kind ${kind} for ${to}`);
  return token;
}
