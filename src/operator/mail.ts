/** `lynxroom mail`: the outbox, for operators with access to the database and the encryption key. */
import { join } from 'node:path';
import { CliError, type Context, toTable, toTime } from '@lynxroom/cli';
import { toUnixSeconds } from '../core/time.ts';
import { type ListedMail, listMail, type ReadMail, readMail } from '../mail/read-outbox.ts';
import { readShellUrl } from '../runtime/demo-account.ts';
import { encryptionKeyPath, readSealer } from '../runtime/secrets.ts';
import { withServices } from './services.ts';
import { readSettings } from './settings.ts';

const MAX_LISTED = 50;

/** Lists the newest messages, or shows one. */
export async function mail(context: Context): Promise<undefined> {
  const [id] = context.args;
  if (id === undefined) return list(context);
  if (!/^\d{1,9}$/.test(id))
    throw new CliError('The ID of a message is a number: run `lynxroom mail` to list messages');
  return show(context, Number(id));
}

async function list(context: Context): Promise<undefined> {
  const limit = context.number('limit') ?? MAX_LISTED;
  const to = context.option('to')?.trim().toLowerCase() ?? null;
  const messages = await withServices(context, ({ db }) => listMail(db, { limit, to }));
  const rows = messages.map((message) => [
    String(message.id),
    toTime(toUnixSeconds(message.created_at)),
    message.to_address,
    message.kind,
    message.state,
    message.last_error ?? '',
  ]);
  const header = ['ID', 'QUEUED (UTC)', 'TO', 'KIND', 'STATE', 'REASON'];
  context.print({ messages: messages.map(present) }, toTable(header, rows, 'No messages'));
  return undefined;
}

async function show(context: Context, id: number): Promise<undefined> {
  const config = readSettings(context);
  const sealer = await readSealer(config);
  if (sealer === null)
    throw new CliError(`The encryption key is missing: restore ${encryptionKeyPath(config)}, or set ENCRYPTION_KEY`);
  // The server may have been started with a different PORT.
  const serverUrl = (await readShellUrl(join(config.DATA_DIR, 'demo.env'))) ?? `http://localhost:${config.PORT}`;
  const baseUrl = config.APP_URL ?? config.PUBLIC_URL ?? serverUrl;
  const message = await withServices(context, ({ db }) => readMail(db, sealer, id, baseUrl));
  if (message === null) throw new CliError(`There is no message ${id}: run \`lynxroom mail\` to list messages`);
  const { subject = null, text = null } = message.content ?? {};
  context.print({ ...present(message), subject, text }, toText(message));
  return undefined;
}

function present({ id, kind, to_address, state, attempts, created_at, last_error }: ListedMail) {
  return { id, kind, to: to_address, state, attempts, created_at: toUnixSeconds(created_at), last_error };
}

function toText({ to_address, created_at, state, content }: ReadMail): string {
  const head = `To: ${to_address}\nQueued: ${toTime(toUnixSeconds(created_at))} UTC\nState: ${state}`;
  if (content === null) return `${head}\n\nThe text was deleted when the state became "${state}".`;
  return `${head}\nSubject: ${content.subject}\n\n${content.text.trimEnd()}`;
}
