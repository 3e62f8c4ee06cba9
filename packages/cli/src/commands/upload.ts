/** Uploading files to the library. */
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import { CliError, type Command, type Context, UsageError } from '../command.ts';
import { describeFailure } from '../failures.ts';
import { createProgressBar } from '../progress-bar.ts';
import { chooseWorkspace, openService, urlOption, workspaceOption } from '../service.ts';
import { toSize } from '../table.ts';

const TYPES: Readonly<Record<string, string>> = { '.pdf': 'application/pdf', '.mp4': 'video/mp4' };

type LocalFile = { path: string; name: string; size: number; changedAt: number };

export const upload: Command = {
  name: 'upload',
  args: '<files...>',
  minArgs: 1,
  maxArgs: Number.POSITIVE_INFINITY,
  summary: 'Upload PDF and MP4 files to the library',
  details: `Uploads one file after another, with a progress bar if standard error is a terminal. A file that is
refused does not stop the others; the exit code is then 1. With --json, prints one line for each file. A file of more
than 8 MB is sent in parts: if the command is interrupted, the same command continues within 24 hours.`,
  options: {
    name: { value: 'NAME', help: 'display name, for a single file (default: the filename)' },
    description: { value: 'TEXT', help: 'description' },
    ...workspaceOption,
    ...urlOption,
  },
  examples: ['lynxroom upload examples/sample.pdf', 'lynxroom upload examples/sample.mp4 --name "Stand-up"'],
  async run(context) {
    if (context.option('name') !== undefined && context.args.length > 1)
      throw new UsageError('--name needs a single file');
    // Checked first, so that a wrong name is noticed before the first upload.
    const files = await Promise.all(context.args.map(openFile));
    const service = await openService(context);
    const id = await chooseWorkspace(context, service);
    let failed = 0;
    for (const file of files) {
      try {
        const item = await uploadFile(context, service.client, id, file);
        context.print(item, `Uploaded ${item.name} as item ${item.id} (${toSize(item.size)})`);
      } catch (error) {
        if (context.signal.aborted || files.length === 1) throw error;
        const { message } = describeFailure(error);
        context.note(
          context.isJson ? JSON.stringify({ file: file.path, error: { message } }) : `${file.path}: ${message}`,
        );
        failed += 1;
      }
    }
    return failed === 0 ? 0 : 1;
  },
};

async function openFile(path: string): Promise<LocalFile> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(error.code === 'ENOENT' ? `There is no file ${path}` : `${path} cannot be read: ${error.code}`);
  });
  if (!found.isFile()) throw new CliError(`${path} is not a file`);
  return { path, name: basename(path), size: found.size, changedAt: found.mtimeMs };
}

type Uploader = Pick<Awaited<ReturnType<typeof openService>>['client'], 'upload'>;

async function uploadFile(context: Context, client: Uploader, id: number, file: LocalFile) {
  const { path, name, size, changedAt } = file;
  const bar = createProgressBar(context.io.stderr, name);
  const displayName = context.option('name');
  const description = context.option('description');
  try {
    return await client.upload(
      {
        id,
        // If the type is generic, the service goes by the extension.
        file: await openAsBlob(path, { type: TYPES[extname(name).toLowerCase()] ?? 'application/octet-stream' }),
        filename: name,
        ...(displayName !== undefined && { name: displayName }),
        ...(description !== undefined && { description }),
      },
      {
        signal: context.signal,
        idempotencyKey: crypto.randomUUID(),
        onProgress: bar.update,
        resumeKey: JSON.stringify([resolve(path), size, changedAt]),
      },
    );
  } finally {
    bar.clear();
  }
}
