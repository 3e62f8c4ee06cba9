/** Reads the outbox, for operators and for developers without a mail server. */
import type { Sealer } from '../core/sealing.ts';
import type { Database } from '../db/client.ts';
import { bytes, int, nullable, oneOf, type RowOf, statement, text, time } from '../db/statements.ts';
import type { MailKind } from './kinds.ts';
import { type MailState, openMail } from './outbox.ts';
import { type RenderedMail, toLocalSource } from './render-mail.ts';

const listed = {
  id: int,
  kind: oneOf<MailKind>(),
  to_address: text,
  state: oneOf<MailState>(),
  attempts: int,
  created_at: time,
  last_error: nullable(text),
};

const columns = 'id, kind, to_address, state, attempts, created_at, last_error';

const listMessages = statement('list-mail', {
  params: { limit: int, to: nullable(text) },
  returns: listed,
  sql: `
    select ${columns} from mail_messages
    where to_address <> '' and ($to is null or to_address = $to)
    order by id desc limit $limit`,
});

const findMessage = statement('find-mail', {
  params: { id: int },
  returns: { ...listed, message_id: text, data: nullable(bytes) },
  sql: `select ${columns}, message_id, data from mail_messages where id = $id`,
});

export type ListedMail = RowOf<typeof listMessages>;

/**
 * `content` is null once the message has been sent, has failed or was dropped: its data is then deleted, because it may
 * contain links.
 */
export type ReadMail = ListedMail & { content: RenderedMail | null };

/** Lists messages, newest first. With `to`, lists only those to this address. */
export function listMail(
  { sql }: Pick<Database, 'sql'>,
  { limit, to = null }: { limit: number; to?: string | null },
): Promise<ListedMail[]> {
  return sql.run(listMessages, { limit, to });
}

/** Reads a message. Null if there is none. Throws if it was sealed with another key. */
export async function readMail(
  { sql }: Pick<Database, 'sql'>,
  sealer: Sealer,
  id: number,
  baseUrl: string,
): Promise<ReadMail | null> {
  const [row] = await sql.run(findMessage, { id });
  if (!row) return null;
  const { data, message_id, ...mail } = row;
  return { ...mail, content: data && openMail(sealer, { message_id, kind: row.kind, data }, toLocalSource(baseUrl)) };
}
