/** The contacts of the workspace. */
import { readFile } from 'node:fs/promises';
import { CliError, type Command } from '../command.ts';
import { showElapsed } from '../progress-bar.ts';
import { chooseWorkspace, openService, urlOption, workspaceOption } from '../service.ts';
import { toSize } from '../table.ts';

export const contactsImport: Command = {
  name: 'contacts import',
  args: '<file.csv>',
  minArgs: 1,
  summary: 'Import contacts from a CSV file',
  details: `The first row names the columns: email, and name if there is one, or as in files of Google Contacts and
Outlook. Rows that are not valid are
listed and left out; the exit code is then 1. In a terminal, shows how long the import has been running.`,
  options: { ...workspaceOption, ...urlOption },
  examples: ['lynxroom contacts import people.csv'],
  async run(context) {
    const [path = ''] = context.args;
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      throw new CliError(
        error.code === 'ENOENT' ? `There is no file ${path}` : `${path} cannot be read: ${error.code}`,
      );
    });
    const service = await openService(context);
    const id = await chooseWorkspace(context, service);
    const clear = showElapsed(context.io.stderr, `Importing ${toSize(bytes.length)}`);
    const csv = new Blob([bytes]);
    const result = await service.client.importContacts({ id, csv }, { signal: context.signal }).finally(clear);
    const { created, updated, skipped, skipped_count: count } = result;
    const lines = skipped.map(({ line, problem }) => `Line ${line}: ${problem}`);
    if (count > skipped.length) lines.push(`and ${count - skipped.length} more`);
    context.print(result, `Created ${created}, updated ${updated}, left out ${count}`);
    if (!context.isJson) for (const line of lines) context.note(line);
    return count === 0 ? 0 : 1;
  },
};
