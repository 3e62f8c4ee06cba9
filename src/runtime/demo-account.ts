/**
 * The demo account of the embedded database: a user with a workspace and an API key. A shell can load the key from
 * `<DATA_DIR>/demo.env`.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identify } from '../auth/identify.ts';
import { ifExists, replaceFile } from '../core/files.ts';
import { runWrite } from '../db/client.ts';
import { createApiKey } from '../features/api-keys/api-keys.ts';
import { register } from '../features/auth/account.ts';
import { noClient } from '../features/auth/sessions.ts';
import { eraseMailsTo } from '../mail/drop-mails.ts';
import type { Services } from '../services.ts';

export const demoEmail = 'demo@lynxroom.example';

type ShellEnv = { user: { id: number; name: string }; workspaceId: number; path: string; url: string };

/**
 * Creates the demo account if there is no account yet, gives it an API key and writes `demo.env`. Returns the path of
 * that file, or null if the demo account does not exist.
 */
export async function prepareDemo(services: Services, dataDir: string, url: string): Promise<string | null> {
  const path = join(dataDir, 'demo.env');
  const { db } = services;
  if ((await db.user.count()) === 0) {
    const password = randomBytes(18).toString('base64url');
    await register(
      services,
      { name: 'Demo', email: demoEmail, password },
      { network: '', signal: null },
      noClient,
      'by the service',
    );
    // Nobody reads mail at this address.
    await eraseMailsTo(db.sql, { address: demoEmail, now: services.clock.now() });
    const data = { emailVerifiedAt: services.clock.now() };
    await runWrite(db, (tx) => tx.user.updateMany({ where: { email: demoEmail }, data }));
  }
  const user = await db.user.findUnique({ where: { email: demoEmail } });
  const workspace = user && (await db.workspace.findFirst({ where: { ownerId: user.id, isPersonal: true } }));
  if (!user || !workspace) return null;
  await writeShellEnv(services, { user, workspaceId: workspace.id, path, url });
  return path;
}

/**
 * Writes a file for a shell to load, readable only by its owner: the service's URL, the workspace and an API key for
 * it. The key in an existing file is reused if it still works.
 */
export async function writeShellEnv(services: Services, env: ShellEnv): Promise<void> {
  const { workspaceId, path, url } = env;
  const key = (await findUsableKey(services, env)) ?? (await createKey(services, env));
  const lines = [
    `export LYNXROOM_URL=${url}`,
    `export LYNXROOM_WORKSPACE=${workspaceId}`,
    `export LYNXROOM_TOKEN=${key}`,
  ];
  await replaceFile(path, `${lines.join('\n')}\n`);
}

async function findUsableKey(services: Services, { user, workspaceId, path }: ShellEnv): Promise<string | null> {
  const key = await readExport(path, 'LYNXROOM_TOKEN');
  const { caller } = await identify(services, key, null, null);
  if (caller?.userId !== user.id || caller.credential.kind !== 'key') return null;
  return caller.credential.workspaceId === workspaceId ? key : null;
}

async function readExport(path: string, name: string): Promise<string | null> {
  const text = (await ifExists(readFile(path, 'utf8'))) ?? '';
  return new RegExp(`^export ${name}=(\\S+)$`, 'm').exec(text)?.[1] ?? null;
}

async function createKey(services: Services, { user, workspaceId }: ShellEnv): Promise<string> {
  const acting = { workspaceId, role: 'owner', credential: null, address: null } as const;
  const actor = { ...acting, userId: user.id, name: user.name };
  return (await createApiKey(services, actor, { name: 'Demo' })).full_key;
}

/** Reads the service's URL from a file that `writeShellEnv` wrote. Returns null if there is no such file. */
export function readShellUrl(path: string): Promise<string | null> {
  return readExport(path, 'LYNXROOM_URL');
}

/**
 * Returns commands to paste into a shell. They keep working when the server is restarted. `path` is that of `demo.env`.
 */
export function demoCommands(path: string): string[] {
  return [
    `. ${path}`,
    'npm run -s lynxroom -- upload examples/sample.pdf examples/sample.mp4',
    'npm run -s lynxroom -- ls sample',
    'npm run -s lynxroom -- rooms create',
    'npm run example             # the library through the typed client',
    'npm run example:rooms       # a meeting with a guest and a recording, and a booking',
    'npm run example:webhooks    # a webhook: register, receive, fail, repair, resend',
  ];
}
