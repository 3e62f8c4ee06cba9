/** Signing in and out. */
import { isLynxroomError } from '../../../client/src/index.ts';
import { type Command, type Context, UsageError } from '../command.ts';
import { readCredentials, removeCredentials, writeCredentials } from '../credentials.ts';
import { openPrompt, type Prompt } from '../prompt.ts';
import {
  chooseWorkspace,
  connect,
  DEFAULT_URL,
  findDefaultWorkspace,
  openService,
  toServiceUrl,
  urlOption,
  workspaceOption,
} from '../service.ts';

const API_KEY = /^lnx_[0-9A-Za-z]{40}$/;

export const login: Command = {
  name: 'login',
  summary: 'Sign in, and store the credential',
  details: `Asks for the address of the service, the email address and the password, or for an API key with --key.
The password and the key are never shown, and are not read from the command line. If standard
input is not a terminal, each of its lines is an answer.

The credential is stored in lynxroom/credentials.json below XDG_CONFIG_HOME (default: ~/.config),
readable by you alone.`,
  options: {
    ...urlOption,
    email: { value: 'EMAIL', help: 'the email address of the account (default: asks for it)' },
    key: { help: 'use an API key instead of a password' },
    workspace: {
      value: 'ID',
      help: 'the workspace for later commands (default: the Personal workspace, or that of an API key)',
    },
  },
  examples: [
    'lynxroom login --url https://lynxroom.example.com --email ada@example.com',
    'lynxroom login --key < key.txt',
  ],
  async run(context) {
    const prompt = openPrompt(context);
    try {
      return await signIn(context, prompt);
    } finally {
      prompt.close();
    }
  },
};

async function signIn(context: Context, prompt: Prompt): Promise<undefined> {
  const { env, io } = context;
  const preset = env.LYNXROOM_URL || (await readCredentials(context).catch(() => null))?.url || DEFAULT_URL;
  const given = context.option('url') ?? (io.stdin.isTTY ? await prompt.ask('Address of the service', preset) : preset);
  const url = toServiceUrl(given);
  const token = context.flag('key') ? await askKey(prompt) : await askPassword(context, prompt, url);
  const service = connect(url, token, context.signal);
  const wanted = context.option('workspace');
  const workspace =
    wanted === undefined ? await findDefaultWorkspace(service.client) : await chooseWorkspace(context, service);
  const { workspace: found } = await service.client.workspaces.read.query({ id: workspace });
  const path = await writeCredentials(env, { url, token, workspace });
  context.print(
    { url, workspace: { id: found.id, name: found.name }, stored_in: path },
    `Signed in to ${url}, in workspace ${found.id} (${found.name})`,
  );
  if (env.LYNXROOM_TOKEN) context.note('LYNXROOM_TOKEN is set, and takes precedence over this sign-in');
  return undefined;
}

async function askKey(prompt: Prompt): Promise<string> {
  const key = (await prompt.askSecret('API key')).trim();
  if (!API_KEY.test(key)) throw new UsageError('An API key begins with lnx_ and has 44 characters');
  return key;
}

async function askPassword(context: Context, prompt: Prompt, url: string): Promise<string> {
  const email = context.option('email') ?? (await prompt.ask('Email'));
  const password = await prompt.askSecret('Password');
  const { client } = connect(url, '', context.signal);
  return (await client.auth.login.mutate({ email, password })).token;
}

export const logout: Command = {
  name: 'logout',
  summary: 'End the session, and remove the stored credential',
  details: 'A session ends on the service too. An API key stays valid: revoke it with lynxroom keys revoke.',
  examples: ['lynxroom logout'],
  async run(context) {
    const stored = await readCredentials(context);
    if (stored?.token.startsWith('lns_')) {
      const { client } = connect(stored.url, stored.token, context.signal);
      await client.auth.logout.mutate().catch((error: unknown) => {
        // The session has ended already.
        if (!isLynxroomError(error) || error.status !== 401) {
          context.note(`The session could not be ended on ${stored.url}. It expires on its own after a few days.`);
        }
      });
    }
    await removeCredentials(context.env);
    context.print({ ok: true }, stored === null ? 'Not signed in' : `Signed out of ${stored.url}`);
    return undefined;
  },
};

export const whoami: Command = {
  name: 'whoami',
  summary: 'Show the service, the account and the workspace in use',
  options: { ...urlOption, ...workspaceOption },
  examples: ['lynxroom whoami', 'lynxroom whoami --json'],
  async run(context) {
    const service = await openService(context);
    const { client, url, token } = service;
    const id = await chooseWorkspace(context, service);
    const { workspace } = await client.workspaces.read.query({ id });
    const isKey = token.startsWith('lnx_');
    // An API key may not read the account.
    const user = isKey ? null : (await client.auth.me.query()).user;
    const account = user === null ? `API key ${token.slice(0, 8)}...` : `${user.name} <${user.email}>`;
    context.print(
      { url, credential: isKey ? 'key' : 'session', user, workspace: { ...workspace, members: undefined } },
      `Service    ${url}\nAccount    ${account}\nWorkspace  ${workspace.id} (${workspace.name}), as ${workspace.role}`,
    );
    return undefined;
  },
};
