/** Listing and downloading the files of the library. */
import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CliError, type Command, type Context, UsageError } from '../command.ts';
import { createProgressBar } from '../progress-bar.ts';
import { chooseWorkspace, openService, urlOption, workspaceOption } from '../service.ts';
import { toSize, toTable, toTime } from '../table.ts';

const SORTS = ['date', 'name', 'size'] as const;
const ORDERS = ['asc', 'desc'] as const;

export const ls: Command = {
  name: 'ls',
  args: '[search]',
  maxArgs: 1,
  summary: 'List the files of the library',
  details: 'Prints one page. If there are more files, it prints the --cursor of the next page.',
  options: {
    label: { value: 'ID', help: 'only files with this label' },
    sort: { value: 'FIELD', help: 'date, name or size (default: date)' },
    order: { value: 'ORDER', help: 'asc or desc (default: desc)' },
    limit: { value: 'NUMBER', help: 'the maximum number of files to list, 1 to 100 (default: 50)' },
    cursor: { value: 'CURSOR', help: 'continue after an earlier page' },
    all: { help: 'list all pages' },
    ...workspaceOption,
    ...urlOption,
  },
  examples: ['lynxroom ls', 'lynxroom ls sample --sort name --order asc', 'lynxroom ls --all --json'],
  async run(context) {
    const service = await openService(context);
    const id = await chooseWorkspace(context, service);
    const [search] = context.args;
    const limit = context.number('limit') ?? (context.flag('all') ? 100 : undefined);
    const label = context.number('label');
    const sort = oneOf(context, 'sort', SORTS);
    const order = oneOf(context, 'order', ORDERS);
    const filter = {
      id,
      ...(search && { search }),
      ...(label && { label }),
      ...(sort && { sort }),
      ...(order && { order }),
    };
    const list = (cursor: string | undefined) =>
      service.client.library.list.query({
        ...filter,
        ...(limit !== undefined && { limit }),
        ...(cursor && { cursor }),
      });

    let page = await list(context.option('cursor'));
    const { items } = page;
    while (context.flag('all') && page.next_cursor) {
      page = await list(page.next_cursor);
      items.push(...page.items);
    }
    const rows = items.map((item) => [
      String(item.id),
      item.name,
      toSize(item.size),
      toTime(item.created_at),
      item.labels.map(({ name }) => name).join(', '),
    ]);
    context.print({ ...page, items }, toTable(['ID', 'NAME', 'SIZE', 'ADDED (UTC)', 'LABELS'], rows, 'No files'));
    if (page.next_cursor && !context.isJson) context.note(`More: --cursor ${page.next_cursor}`);
    return undefined;
  },
};

function oneOf<const Value extends string>(
  context: Context,
  name: string,
  values: readonly Value[],
): Value | undefined {
  const given = context.option(name);
  if (given === undefined) return undefined;
  const found = values.find((value) => value === given);
  if (found === undefined) throw new UsageError(`--${name} must be one of ${values.join(', ')}`);
  return found;
}

export const download: Command = {
  name: 'download',
  args: '<item-id>',
  minArgs: 1,
  summary: 'Download a file of the library',
  options: {
    output: { value: 'FILE', help: 'where to store it (default: the filename of the service, in this directory)' },
    link: { help: 'print a link that works for 15 minutes, and download nothing' },
    force: { help: 'replace an existing file' },
    ...workspaceOption,
    ...urlOption,
  },
  examples: ['lynxroom download 1', 'lynxroom download 1 --link'],
  async run(context) {
    const itemId = toId(context.args[0]);
    const service = await openService(context);
    const id = await chooseWorkspace(context, service);
    const link = await service.client.library.download.query({ id, itemId });
    if (context.flag('link')) {
      context.print(link, link.url);
      return undefined;
    }
    const { item } = await service.client.library.read.query({ id, itemId });
    const response = await fetch(link.url, { signal: context.signal });
    const { body } = response;
    if (!response.ok || body === null) throw new CliError(`The download failed with status ${response.status}`);
    const path = context.option('output') ?? readFilename(response.headers);
    if (!context.flag('force') && existsSync(path)) {
      await body.cancel();
      throw new CliError(`${path} exists already: replace it with --force, or name another file with --output`);
    }
    await saveFile(context, body, { path, label: item.name, total: item.size });
    context.print({ file: path, item }, `Downloaded ${item.name} to ${path} (${toSize(item.size)})`);
    return undefined;
  },
};

function toId(text = ''): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new UsageError(`${text} is not an ID`);
  return Number(text);
}

/**
 * Returns the filename that the service chose, as browsers read it (RFC 6266). The service makes it safe; a name that
 * could still point outside of this directory, or hide the file, is not used.
 */
function readFilename(headers: Headers): string {
  const disposition = headers.get('content-disposition') ?? '';
  const [, plain] = /; filename="([^"]*)"/i.exec(disposition) ?? [];
  const [, encoded] = /; filename\*=UTF-8''((?:%[0-9a-f]{2}|[^%;\s])+)/i.exec(disposition) ?? [];
  const name = encoded === undefined ? (plain ?? '') : decodePercents(encoded);
  return name === '' || /^\.|[/\\\p{Cc}]/u.test(name) ? 'download' : name;
}

/** Unlike decodeURIComponent, it does not throw for invalid UTF-8. */
function decodePercents(text: string): string {
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

/** First writes the file under a unique temporary name, so that a failed download leaves nothing behind. */
async function saveFile(
  context: Context,
  body: NonNullable<Response['body']>,
  { path, label, total }: { path: string; label: string; total: number },
): Promise<void> {
  const bar = createProgressBar(context.io.stderr, label);
  const staged = `${path}.${crypto.randomUUID()}.part`;
  let sent = 0;
  async function* counted(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      sent += chunk.length;
      bar.update({ sent, total });
      yield chunk;
    }
  }
  try {
    await pipeline(Readable.fromWeb(body), counted, createWriteStream(staged, { flags: 'wx' }), {
      signal: context.signal,
    });
    await rename(staged, path);
  } catch (error) {
    await rm(staged, { force: true });
    throw error;
  } finally {
    bar.clear();
  }
}
