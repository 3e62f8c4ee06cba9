import { type Sql, statement, text } from './statements.ts';

const notifyStatement = statement('notify', {
  params: { channel: text, payload: text },
  returns: { notified: text },
  sql: 'select pg_notify($channel, $payload)::text as notified',
});

/**
 * Notifies everything that listens to a channel, in all processes; in a transaction, when it commits. Such a commit
 * waits for the others that notify: what very many commits would announce is announced after them, by `EventSignal`.
 */
export async function notify(sql: Sql, channel: string, payload = ''): Promise<void> {
  await sql.run(notifyStatement, { channel, payload });
}
