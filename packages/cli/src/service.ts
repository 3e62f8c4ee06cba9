/** The service that a command calls, with the credential and the workspace to use. */
import { type Client, createClient, type UploadMemory } from '../../client/src/index.ts';
import { CliError, type Context, ExitCode, type Option, UsageError } from './command.ts';
import { readCredentials } from './credentials.ts';
import { openUploadMemory } from './upload-memory.ts';

export const DEFAULT_URL = 'http://127.0.0.1:3000';

export type Service = {
  url: string;
  token: string;
  client: Client;
  /** Calls the service with `fetch`, with the credential. Does not throw for an error response. */
  request(path: string, init?: RequestInit): Promise<Response>;
};

/** The option of commands that work in a workspace. */
export const workspaceOption: Readonly<Record<string, Option>> = {
  workspace: { value: 'ID', help: 'the workspace, by ID or slug (default: the one chosen at sign-in)' },
};

/** The option of commands that call the service. */
export const urlOption: Readonly<Record<string, Option>> = {
  url: { value: 'URL', help: `the service (default: the one you are signed in to, or ${DEFAULT_URL})` },
};

/** Checks that a string is the base URL of a service, and returns it without a trailing slash. */
export function toServiceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  // A ? or # at the end would hide the path of each call.
  const isBase = url !== null && /^https?:$/.test(url.protocol) && !/[?#]/.test(url.href);
  if (!isBase || url.username !== '' || url.password !== '')
    throw new UsageError(`${text} is not the address of a service, such as https://lynxroom.example.com`);
  return url.href.replace(/\/+$/, '');
}

/**
 * Returns access to the service, using the credential from the environment or the stored one. A stored credential is
 * sent only to the service that it is for. Calls end when the command is interrupted, unless `signal` is null.
 *
 * @throws CliError if there is no credential
 */
export async function openService(context: Context, signal: AbortSignal | null = context.signal): Promise<Service> {
  const { env } = context;
  const given = context.option('url') ?? env.LYNXROOM_URL;
  const stored = env.LYNXROOM_TOKEN ? null : await readCredentials(context);
  const url = toServiceUrl(given || stored?.url || DEFAULT_URL);
  const token = env.LYNXROOM_TOKEN || (stored?.url === url ? stored.token : undefined);
  if (token === undefined) {
    const where = stored === null ? 'Not signed in' : `Not signed in to ${url}`;
    throw new CliError(`${where}: run lynxroom login, or set LYNXROOM_TOKEN`, { exitCode: ExitCode.notSignedIn });
  }
  return connect(url, token, signal, openUploadMemory(env));
}

/** Returns access to a service, with the given token or without one. */
export function connect(url: string, token: string, signal: AbortSignal | null, uploads?: UploadMemory): Service {
  const send: typeof fetch = (input, init = {}) => {
    const signals = [signal, init.signal].filter((one) => one instanceof AbortSignal);
    return fetch(input, { ...init, ...(signals.length > 0 && { signal: AbortSignal.any(signals) }) });
  };
  return {
    url,
    token,
    client: createClient({ url, token, fetch: send, ...(uploads && { uploads }) }),
    request: (path, init) =>
      send(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${token}`, ...init?.headers } }),
  };
}

/**
 * Returns the ID of the workspace to work in: the one given by the option, by LYNXROOM_WORKSPACE or at sign-in. If none
 * is given, returns the API key's workspace, or the Personal workspace.
 */
export async function chooseWorkspace(context: Context, { client, token, url }: Service): Promise<number> {
  const given = context.option('workspace') ?? context.env.LYNXROOM_WORKSPACE;
  if (given !== undefined && /^\d{1,10}$/.test(given)) return Number(given);
  if (!given) {
    const stored = await readCredentials({ env: context.env, note: () => {} });
    if (stored?.token === token && stored.url === url) return stored.workspace;
    return findDefaultWorkspace(client);
  }
  for (let cursor: string | undefined; ; ) {
    const page = await client.workspaces.list.query({ limit: 100, ...(cursor && { cursor }) });
    const found = page.workspaces.find(({ slug }) => slug === given);
    if (found) return found.id;
    if (!page.next_cursor) throw new CliError(`There is no workspace ${given}`);
    cursor = page.next_cursor;
  }
}

/** Returns the ID of the workspace of an API key, or of the Personal workspace of the signed-in user. */
export async function findDefaultWorkspace(client: Client): Promise<number> {
  const { workspaces } = await client.workspaces.list.query({});
  const [first, second] = workspaces;
  if (first === undefined) throw new CliError('There is no workspace: give one with --workspace');
  if (second === undefined) return first.id;
  const { user } = await client.auth.me.query();
  for (const { id } of workspaces.filter((workspace) => workspace.owner_id === user.id)) {
    const { workspace } = await client.workspaces.read.query({ id });
    if (workspace.is_personal === 1) return id;
  }
  return first.id;
}
