/**
 * What a newcomer tries on the embedded default: a demo account whose workspace and API key stand in
 * `<data folder>/demo.env`, readable by its owner only, for a shell to load.
 */
import { randomBytes } from 'node:crypto';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identify } from '../auth/identify.ts';
import { issueApiKey } from '../features/api-keys/api-keys.ts';
import { register } from '../features/auth/account.ts';
import type { Services } from '../services.ts';

export const demoEmail = 'demo@lynxroom.example';

type Shell = { user: { id: number; name: string }; workspaceId: number; path: string; url: string };

/** Where the service was when the file was written; null where there is none. */
export async function readShellUrl(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return /^export LYNXROOM_URL=(\S+)$/m.exec(text)?.[1] ?? null;
}

/**
 * Writes a file for a shell to load, readable by its owner only: where the service is, the workspace, and a key for it. The
 * key that is in the file already is kept where it still works.
 */
export async function writeShellEnv(services: Services, { user, workspaceId, path, url }: Shell): Promise<void> {
  const kept = await readKey(path);
  const { caller } = await identify(services, kept, null);
  const isGood =
    caller?.userId === user.id && caller.credential.kind === 'key' && caller.credential.workspaceId === workspaceId;
  const actor = { userId: user.id, name: user.name, workspaceId, role: 'owner' } as const;
  const key = isGood ? kept : (await issueApiKey(services, actor, { name: 'Demo' })).full_key;
  const lines = [
    `export LYNXROOM_URL=${url}`,
    `export LYNXROOM_WORKSPACE=${workspaceId}`,
    `export LYNXROOM_TOKEN=${key}`,
    // For any shell: no name that one of them gives a meaning, and no option that curl learned lately.
    'lynx() {',
    '  lynx_path=$1; shift',
    '  case "$*" in *"-d "*) set -- -H "Content-Type: application/json" "$@" ;; esac',
    '  curl -sS -H "Authorization: Bearer $LYNXROOM_TOKEN" "$LYNXROOM_URL/api/workspaces/$LYNXROOM_WORKSPACE$lynx_path" "$@"',
    '  echo',
    '}',
  ];
  await writeFile(path, `${lines.join('\n')}\n`, { mode: 0o600 });
  await chmod(path, 0o600);
}

async function readKey(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return /^export LYNXROOM_TOKEN=(\S+)$/m.exec(text)?.[1] ?? null;
}

/**
 * Creates the demo account on the first start (as long as there is no other account), gives it an API key, and writes
 * `demo.env`. Returns its path, or null where there is no demo account.
 */
export async function prepareDemo(services: Services, dataDir: string, url: string): Promise<string | null> {
  const path = join(dataDir, 'demo.env');
  const { db } = services;
  if ((await db.user.count()) === 0)
    await register(services, { name: 'Demo', email: demoEmail, password: randomBytes(18).toString('base64url') });
  const user = await db.user.findUnique({ where: { email: demoEmail } });
  const workspace = user && (await db.workspace.findFirst({ where: { ownerId: user.id, isPersonal: true } }));
  if (!user || !workspace) return null;
  await writeShellEnv(services, { user, workspaceId: workspace.id, path, url });
  return path;
}

/** One line to paste for each of the main jobs. */
export function demoLines(path: string): string[] {
  return [
    `. ${path}`,
    'lynx /library -F file=@examples/sample.pdf',
    'lynx /library -F file=@examples/sample.mp4 -F name="Stand-up"',
    `lynx /labels -d '{"name":"Contracts","color":"#0ea5e9"}'`,
    `lynx /library/1/labels -d '{"labelId":1}'`,
    `lynx '/library?search=SAMPLE&label=1'`,
    'lynx /library/1/download',
    'lynx /library/1 -X DELETE',
    'npm run example             # the same with the typed client',
    'npm run example:rooms       # a meeting with a guest and a recording, and one that is booked',
    'npm run example:webhooks    # a webhook: registered, received, broken, mended, sent again',
  ];
}
