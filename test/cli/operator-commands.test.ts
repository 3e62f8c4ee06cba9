/** The commands for operators, as processes, with the database of a running service. */
import { spawnSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { createEncryptionKey, createSealer } from '../../src/core/sealing.ts';
import { linkTo } from '../../src/mail/kinds.ts';
import { queueMail } from '../../src/mail/queue-mail.ts';
import { freePort } from '../support/free-port.ts';
import { startMailServer } from '../support/mail-server.ts';
import { startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase, startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, PASSWORD, type Team } from '../support/world.ts';
import { type CommandLine, createCommandLine } from './command-line.ts';

const hasPsql = spawnSync('psql', ['--version']).status === 0;
if (!hasPsql) process.stderr.write('psql is not installed: its test is skipped (Debian: postgresql-client)\n');

let app: TestApp;
let team: Team;
let home: string;
let cli: CommandLine;
let env: Record<string, string>;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  home = await makeTempDir();
  cli = createCommandLine(home);
  env = { DATABASE_URL: app.databaseUrl, DATA_DIR: dirname(app.filesDir) };
});
afterAll(async () => {
  await app.close();
  await rm(home, { recursive: true, force: true });
});

describe('mail', () => {
  test('lists messages and shows one, unless it was sent', async () => {
    const { db, sealer, clock } = app.services;
    const ownKey = createEncryptionKey();
    const keyed = {
      ...env,
      ENCRYPTION_KEY: Buffer.from(ownKey).toString('base64'),
      PUBLIC_URL: 'https://lynx.example',
    };
    const link = linkTo('/reset-password', 'lnm_secret');
    const to = team.outsider.email;
    await queueMail({ sealer: createSealer(ownKey), clock }, db.sql, { kind: 'reset-password', to, data: { link } });
    await queueMail({ sealer, clock }, db.sql, { kind: 'password-changed', to, data: { by: 'owner' } });
    const { messages } = await cli.json(['mail', '--to', to, '--limit', '2'], { env: keyed });
    expect(messages).toMatchObject([{ kind: 'password-changed' }, { kind: 'reset-password', to, state: 'queued' }]);
    const [sealedWithAnother, readable] = messages;
    const { stdout } = await cli.run(['mail', String(readable.id)], { env: keyed });
    expect(stdout).toContain('Subject: Set a new password');
    expect(stdout).toContain(`https://lynx.example${link}`);
    // Without it, the address of the server that last ran with this data directory.
    await writeFile(join(env.DATA_DIR ?? '', 'demo.env'), 'export LYNXROOM_URL=http://127.0.0.1:4321\n');
    const local = await cli.run(['mail', String(readable.id)], { env: { ...keyed, PUBLIC_URL: '' } });
    expect(local.stdout).toContain(`http://127.0.0.1:4321${link}`);
    expect((await cli.run(['mail', String(sealedWithAnother.id)], { env: keyed })).status).toBe(1);
    expect((await cli.run(['mail', '99999'], { env: keyed })).stderr).toContain('There is no message 99999');
    const sent = { state: 'sent', data: null, endedAt: clock.now() };
    await db.mailMessage.update({ where: { id: readable.id }, data: sent });
    expect((await cli.run(['mail', String(readable.id)], { env: keyed })).stdout).toContain('The text was deleted');
  });
});

describe('admin', () => {
  test('lists accounts, resets a password, locks and unlocks', async () => {
    const { users } = await cli.json(['admin', 'users', team.admin.email], { env });
    expect(users).toMatchObject([{ email: team.admin.email, locked_at: null, workspaces: 2 }]);
    expect((await cli.run(['admin', 'users', '--limit', '2'], { env })).stderr).toBe('More: --offset 2\n');

    const reset = ['admin', 'reset-password', team.admin.email];
    expect((await cli.run(reset, { env, input: 'short\n' })).stderr).toContain(
      'password must have 8 to 200 characters',
    );
    expect((await cli.run(reset, { env, input: 'a better password\n' })).status).toBe(0);
    const signIn = (password: string) =>
      createClient({ url: app.url }).auth.login.mutate({ email: team.admin.email, password });
    await expect(signIn(PASSWORD)).rejects.toThrow('Wrong email or password');
    await signIn('a better password');
    const { stdout: generated } = await cli.run([...reset, '--generate'], { env });
    await signIn(generated.trim());

    expect((await cli.run(['admin', 'lock', team.admin.email], { env })).stdout).toMatch(/^Locked /);
    expect((await cli.run(['admin', 'users', team.admin.email], { env })).stdout).toMatch(/ locked \d{4}-/);
    await expect(signIn(generated.trim())).rejects.toThrow('Wrong email or password');
    await cli.json(['admin', 'unlock', team.admin.email], { env });
    await signIn(generated.trim());
  });

  test('removes every other way to sign in on request, and tells the user by mail', async () => {
    const { db } = app.services;
    const { id: userId, email } = team.member;
    const now = app.clock.now();
    const issuer = 'https://provider.example';
    await db.openidIdentity.create({
      data: { userId, issuer, subject: 'mia', email, createdAt: now, lastUsedAt: now },
    });
    await db.secondFactor.create({
      data: { userId, sealedSecret: new Uint8Array(1), createdAt: now, confirmedAt: now },
    });
    const keyed = { ...env, ENCRYPTION_KEY: Buffer.from(createEncryptionKey()).toString('base64') };
    const reset = ['admin', 'reset-password', email, '--generate'];
    expect(await cli.json([...reset, '--keep-access'], { env })).not.toHaveProperty('removed');
    expect(await db.openidIdentity.count({ where: { userId } })).toBe(1);
    const { removed } = await cli.json([...reset, '--remove-sign-in-methods'], { env: keyed });
    expect(removed).toEqual({ passkeys: 0, identities: 1, second_factor: true });
    expect(await db.openidIdentity.count({ where: { userId } })).toBe(0);
    const { messages } = await cli.json(['mail', '--to', email, '--limit', '1'], { env: keyed });
    expect(messages).toMatchObject([{ kind: 'password-changed' }]);
    const { stdout } = await cli.run(['mail', String(messages[0].id)], { env: keyed });
    expect(stdout).toContain('An operator of Lynxroom set a new password for your account.');
    expect(stdout).toContain('Passkeys, linked providers and the second factor were removed.');
    // Without the encryption key the reset still works, and the operator is told.
    expect((await cli.run(reset, { env })).stderr).toContain('The encryption key is missing');
  });

  test('an unknown account, and wrong settings, are one line', async () => {
    const unknown = await cli.run(['admin', 'lock', 'nobody@example.com', '--json'], { env });
    expect([unknown.status, JSON.parse(unknown.stderr)]).toEqual([
      1,
      { error: { message: 'There is no account with the email address nobody@example.com' } },
    ]);
    const settings = await cli.run(['admin', 'users'], { env: { ...env, DATABASE_POOL_SIZE: 'many' } });
    expect(settings.stderr).toBe(
      'Invalid configuration:\n  DATABASE_POOL_SIZE must be a whole number from 1 to 1000\n',
    );
    const port = await freePort();
    const down = await cli.run(['admin', 'users'], {
      env: { DATABASE_URL: `postgresql://a:secret@127.0.0.1:${port}/b` },
    });
    expect([down.status, down.stderr]).toEqual([1, expect.stringMatching(/^Failed to connect to the database: .*\n$/)]);
    expect(down.stderr).not.toContain('secret');
  });
});

describe('db', () => {
  test('prints the URL of the database', async () => {
    expect((await cli.run(['db', 'url'], { env })).stdout).toBe(`${app.databaseUrl}\n`);
    const none = await cli.run(['db', 'url'], { env: { DATA_DIR: join(home, 'none') } });
    expect([none.status, none.stderr]).toEqual([
      1,
      expect.stringContaining('No server is running on the data directory'),
    ]);
  });

  test('psql gets the password in its environment, never as an argument that others can see', async () => {
    const bin = join(home, 'bin');
    await mkdir(bin);
    await writeFile(join(bin, 'psql'), '#!/bin/sh\necho "$* $PGPASSWORD"\n', { mode: 0o755 });
    for (const url of [
      'postgresql://u:a%20b@db/x?sslmode=disable',
      'postgresql://u@db/x?sslmode=disable&password=a%20b',
    ]) {
      const { stdout } = await cli.run(['db', 'psql'], { env: { PATH: bin, DATABASE_URL: url } });
      expect(stdout).toBe('postgresql://u@db/x?sslmode=disable a b\n');
    }
  });

  test.skipIf(!hasPsql)('runs psql, and ends with its status', async () => {
    const sql = "select 'users: ' || count(*) from users";
    const { status, stdout } = await cli.run(['db', 'psql', '--', '-Atc', sql], { env });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^users: \d+\n$/)]);
    expect((await cli.run(['db', 'psql', '--', '-c', 'select from nothing'], { env })).status).toBe(1);
  });
});

describe('doctor', () => {
  type Found = { healthy: boolean; findings: { check: string; state: string; detail: string }[] };

  async function examine(settings: Record<string, string>) {
    const { status, stdout } = await cli.run(['doctor', '--json'], { env: settings });
    const { healthy, findings }: Found = JSON.parse(stdout);
    expect([status, healthy]).toEqual(healthy ? [0, true] : [1, false]);
    return Object.fromEntries(findings.map(({ check, state, detail }) => [check, `${state}: ${detail}`]));
  }

  test('finds a running installation healthy, also before its first start', async () => {
    const dataDir = join(home, 'data');
    expect(await examine({ DATA_DIR: dataDir })).toMatchObject({
      database: expect.stringMatching(/^warning: .*first start/),
    });
    const server = startServer({ DATA_DIR: dataDir });
    await server.ready;
    const url = (await cli.run(['db', 'url'], { env: { DATA_DIR: dataDir } })).stdout.trim();
    expect(url).toMatch(/^postgresql:\/\/lynxroom:/);
    const running = await examine({ DATA_DIR: dataDir });
    expect(Object.entries(running).filter(([, text]) => !text.startsWith('ok: '))).toEqual([]);
    expect(Object.keys(running)).toEqual([
      'node',
      'settings',
      'mail',
      'database',
      'migrations',
      'store',
      'keys',
      'clock',
    ]);
    await stopServer(server);
    expect((await examine({ DATA_DIR: dataDir })).database).toMatch(/^ok: PostgreSQL 18/);
    await rm(join(dataDir, 'files'), { recursive: true });
    expect((await examine({ DATA_DIR: dataDir })).store).toMatch(/^problem: .* is missing: mount its disk/);
  });

  test('warns if browsers give no camera to the pages of the service', async () => {
    expect(await examine({ ...env, PUBLIC_URL: 'https://meet.example.com' })).not.toHaveProperty('meetings');
    expect((await examine({ ...env, PUBLIC_URL: 'http://meet.example.com' })).meetings).toMatch(
      /^warning: Browsers give no camera .* http:\/\/meet\.example\.com.* Use HTTPS: .*docs\/deployment\.md$/,
    );
  });

  test('connects to the mail server, and sends nothing', async () => {
    const server = await startMailServer({ login: { user: 'lynx', pass: 'secret' } });
    const mailEnv = (url: string) => ({ ...env, SMTP_URL: url, MAIL_FROM: 'Lynxroom <noreply@lynxroom.example>' });
    const host = `127.0.0.1:${server.port}`;
    expect((await examine(mailEnv(server.url))).mail).toBe(
      `ok: Signed in to ${host}; mail is sent from noreply@lynxroom.example`,
    );
    const wrong = await examine(mailEnv(server.url.replace('secret', 'guess')));
    expect(wrong.mail).toMatch(new RegExp(`^problem: ${host}: .*Wrong password.*Correct SMTP_URL$`));
    expect(wrong.mail).not.toContain('guess');
    await server.close();
    expect((await examine(mailEnv(server.url))).mail).toMatch(/^problem: .*ECONNREFUSED/);
    expect(server.received).toEqual([]);
  });

  test('warns about a database for which only the letters of ASCII are letters', async () => {
    const database = await createDatabase(`template template0 lc_ctype 'C'`);
    expect((await examine({ DATABASE_URL: database.url })).database).toMatch(
      /^warning: PostgreSQL 18.*\. Its LC_CTYPE is C, so searches .*: restore a backup into a database with the locale/,
    );
    await database.drop();
    expect((await examine({ DATABASE_URL: app.databaseUrl })).database).toMatch(/^ok: /);
  });

  test('says what to fix', async () => {
    expect(await examine({ ...env, PORT: 'web' })).toMatchObject({ settings: expect.stringContaining('PORT must be') });
    const port = await freePort();
    expect(await examine({ DATABASE_URL: `postgresql://127.0.0.1:${port}/x` })).toMatchObject({
      database: expect.stringMatching(/^problem: Failed to connect/),
    });
    const misspelt = await examine({ ...env, S3_BUKET: 'files' });
    expect(misspelt.settings).toMatch(/^warning: Unknown settings.*S3_BUCKET/);
    expect(misspelt.keys).toMatch(/^warning: The first start/);

    await team.owner.client.webhooks.create.mutate({
      id: team.id,
      name: 'Sealed',
      url: 'https://hooks.example.com/',
      events: ['room.created'],
    });
    expect((await examine(env)).keys).toMatch(/^problem: The encryption key is missing/);
    const other = Buffer.from(createEncryptionKey()).toString('base64');
    expect((await examine({ ...env, ENCRYPTION_KEY: other })).keys).toMatch(
      /^problem: A webhook secret is sealed with the key [0-9a-f]{8}: list that key in ENCRYPTION_KEY_PREVIOUS/,
    );

    await app.services.db.$executeRaw`insert into object_store_id (store) values ('s3:bucket/')`;
    await writeFile(join(app.filesDir, 'store-id'), 'disk:1\n');
    expect((await examine(env)).store).toMatch(/^problem: The files of this database are in s3:bucket\//);
    await app.services.db.$executeRaw`
      insert into _prisma_migrations (id, checksum, migration_name, finished_at)
      values ('x', 'x', '29990101000000_later', now())`;
    expect((await examine(env)).migrations).toMatch(/^problem: .*which this version does not know/);
    await app.services.db.$executeRaw`delete from _prisma_migrations where id = 'x'`;
  });
});
