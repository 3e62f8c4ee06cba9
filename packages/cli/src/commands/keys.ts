/** The API keys of a workspace. */
import { type Command, UsageError } from '../command.ts';
import { chooseWorkspace, openService, urlOption, workspaceOption } from '../service.ts';
import { toTable, toTime } from '../table.ts';

const keysList: Command = {
  name: 'keys list',
  summary: 'List the API keys of the workspace',
  options: { ...workspaceOption, ...urlOption },
  examples: ['lynxroom keys list'],
  async run(context) {
    const service = await openService(context);
    const id = await chooseWorkspace(context, service);
    const answer = await service.client.apiKeys.list.query({ id });
    const rows = answer.apiKeys.map((key) => [
      String(key.id),
      key.name,
      `${key.key_prefix}...`,
      key.created_by_name,
      key.is_active === 1 ? 'active' : 'inactive',
      toTime(key.last_used_at),
    ]);
    const heading = ['ID', 'NAME', 'KEY', 'CREATED BY', 'STATE', 'LAST USED (UTC)'];
    context.print(answer, toTable(heading, rows, 'No API keys'));
    return undefined;
  },
};

const keysCreate: Command = {
  name: 'keys create',
  args: '<name>',
  minArgs: 1,
  summary: 'Create an API key and print it (it cannot be shown again)',
  details: 'Needs a sign-in with a password, as owner or admin of the workspace. Only the key goes to standard output.',
  options: { ...workspaceOption, ...urlOption },
  examples: ['lynxroom keys create "Nightly import"'],
  async run(context) {
    const service = await openService(context);
    const id = await chooseWorkspace(context, service);
    const [name = ''] = context.args;
    const { apiKey } = await service.client.apiKeys.create.mutate({ id, name });
    if (!context.isJson) context.note(`Created the API key ${apiKey.id} (${apiKey.name}). It will not be shown again:`);
    context.print(apiKey, apiKey.full_key);
    return undefined;
  },
};

const keysRevoke: Command = {
  name: 'keys revoke',
  args: '<key-id>',
  minArgs: 1,
  summary: 'Delete an API key: calls with it are refused from now on',
  details: 'Needs a sign-in with a password, as owner of the workspace.',
  options: { ...workspaceOption, ...urlOption },
  examples: ['lynxroom keys revoke 3'],
  async run(context) {
    const [given = ''] = context.args;
    if (!/^[1-9]\d{0,9}$/.test(given)) throw new UsageError(`${given} is not the ID of a key: see lynxroom keys list`);
    const service = await openService(context);
    const id = await chooseWorkspace(context, service);
    const answer = await service.client.apiKeys.delete.mutate({ id, keyId: Number(given) });
    context.print(answer, `Revoked the API key ${given}`);
    return undefined;
  },
};

export const keys: readonly Command[] = [keysList, keysCreate, keysRevoke];
