/** The commands that call the API, as processes, against a real service. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { apiCommands } from '../../packages/cli/src/commands/index.ts';
import { describeCommand } from '../../packages/cli/src/help.ts';
import { root } from '../client/packed-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { makePdf } from '../support/media.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, PASSWORD, type Team } from '../support/world.ts';
import { type CommandLine, createCommandLine } from './command-line.ts';

const hasScript = spawnSync('script', ['--version']).status === 0;
if (!hasScript) process.stderr.write('script is not installed: tests at a terminal are skipped (Debian: bsdutils)\n');

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

let home: string;
let cli: CommandLine;
beforeEach(async () => {
  home = await makeTempDir();
  cli = createCommandLine(home);
  return () => rm(home, { recursive: true, force: true });
});

function signIn(person = team.owner): Promise<unknown> {
  const args = ['login', '--url', app.url, '--email', person.email, '--workspace', String(team.id)];
  return cli.json(args, { input: `${PASSWORD}\n` });
}

describe('help', () => {
  test('lists every command, and explains each with an example', async () => {
    const { status, stdout } = await cli.run(['--help']);
    expect(status).toBe(0);
    const names = [...stdout.matchAll(/^ {2}([a-z]+(?: [a-z]+)?)/gm)].map(([, name = '']) => name);
    expect(names).toEqual(expect.arrayContaining(apiCommands.map(({ name }) => name)));
    for (const command of apiCommands) {
      expect(describeCommand(command)).toMatch(
        new RegExp(`^Usage: lynxroom ${command.name}[\\s\\S]*\\nExamples:\\n {2}lynxroom ${command.name}`),
      );
    }
    expect((await cli.run(['rooms', 'create', '--help'])).stdout).toContain('Usage: lynxroom rooms create [name]');
    expect((await cli.run(['help', 'rooms'])).stdout).toContain('rooms delete <name>');
  });

  test('wrong usage ends with status 2 and names the problem', async () => {
    const cases: [string[], RegExp][] = [
      [['frobnicate'], /no command frobnicate/],
      [['rooms', 'paint'], /no command rooms paint. Commands: rooms list/],
      [['rooms', 'delete'], /argument is missing. Usage: lynxroom rooms delete <name>/],
      [['ls', 'a', 'b'], /too many arguments/],
      [['ls', '--colour'], /Unknown option '--colour'/],
      [['ls', '--limit', 'many', '--url', app.url], /--limit must be a whole number/],
      [['login', '--url', 'example'], /not the address of a service/],
    ];
    for (const [args, message] of cases) {
      const { status, stderr, stdout } = await cli.run(args, { env: { LYNXROOM_TOKEN: team.owner.token } });
      expect([args, status, stdout]).toEqual([args, 2, '']);
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/\n {4}at /);
    }
  });
});

describe('signing in', () => {
  test('stores the session for its owner alone, and logout ends it', async () => {
    expect(await signIn()).toMatchObject({ url: app.url, workspace: { id: team.id } });
    const path = join(home, '.config/lynxroom/credentials.json');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(home, '.config/lynxroom'))).mode & 0o777).toBe(0o700);
    const { token } = await cli.storedSignIn();
    expect((await app.http.get('/api/auth/me', String(token))).status).toBe(200);
    expect(await cli.json(['whoami'])).toMatchObject({ credential: 'session', user: { email: team.owner.email } });

    expect(await cli.run(['logout'])).toMatchObject({ status: 0, stdout: `Signed out of ${app.url}\n` });
    expect((await app.http.get('/api/auth/me', String(token))).status).toBe(401);
    const after = await cli.run(['whoami']);
    expect(after.status).toBe(3);
    expect(after.stderr).toBe('Not signed in: run lynxroom login, or set LYNXROOM_TOKEN\n');
  });

  test('uses the Personal workspace by default, and an API key that of the key', async () => {
    const login = ['login', '--url', app.url, '--email', team.admin.email];
    expect(await cli.json(login, { input: `${PASSWORD}\n` })).toMatchObject({ workspace: { name: 'Personal' } });

    const { apiKey } = await team.owner.client.apiKeys.create.mutate({ id: team.id, name: 'For the terminal' });
    const signedIn = await cli.json(['login', '--url', app.url, '--key'], { input: `${apiKey.full_key}\n` });
    expect(signedIn).toMatchObject({ workspace: { id: team.id } });
    expect(JSON.stringify(signedIn)).not.toContain(apiKey.full_key);
    expect(await cli.json(['whoami'])).toMatchObject({ credential: 'key', user: null });
    expect((await cli.run(['keys', 'create', 'Another'])).status).toBe(1);
  });

  test('a wrong password stores nothing and ends with status 3', async () => {
    const { status, stderr } = await cli.run(['login', '--url', app.url, '--email', team.owner.email], {
      input: 'not the password\n',
    });
    expect([status, stderr]).toEqual([3, 'Wrong email or password\n']);
    await expect(cli.storedSignIn()).rejects.toThrow('ENOENT');
  });

  test('the stored credential is sent only to its service, and a readable file is reported', async () => {
    await signIn();
    const other = await cli.run(['ls', '--url', 'http://127.0.0.1:9']);
    expect([other.status, other.stderr]).toEqual([
      3,
      'Not signed in to http://127.0.0.1:9: run lynxroom login, or set LYNXROOM_TOKEN\n',
    ]);
    const path = join(home, '.config/lynxroom/credentials.json');
    await chmod(path, 0o644);
    expect((await cli.run(['ls'])).stderr).toContain(`others can read ${path}`);
    await writeFile(path, '{"url":');
    expect((await cli.run(['ls'])).stderr).toContain('is damaged: sign in again');
  });

  test('honours XDG_CONFIG_HOME, and the environment takes precedence over the stored credential', async () => {
    const env = { XDG_CONFIG_HOME: join(home, 'config') };
    const args = ['login', '--url', app.url, '--email', team.owner.email];
    await cli.json(args, { input: `${PASSWORD}\n`, env });
    expect((await stat(join(home, 'config/lynxroom/credentials.json'))).mode & 0o777).toBe(0o600);
    const asMember = { ...env, LYNXROOM_TOKEN: team.member.token, LYNXROOM_WORKSPACE: String(team.id) };
    const { user, workspace } = await cli.json(['whoami', '--url', app.url], { env: asMember });
    expect([user.email, workspace.id]).toEqual([team.member.email, team.id]);
  });
});

describe.skipIf(!hasScript)('at a terminal', () => {
  test('the password is not shown, and an upload shows its progress', async () => {
    const terminal = startTerminal(['login', '--url', app.url, '--workspace', String(team.id)]);
    await terminal.answer('Email: ', team.owner.email);
    await terminal.answer('Password: ', PASSWORD);
    const output = await terminal.ended;
    expect(output).toContain('Signed in to');
    expect(output).toContain(team.owner.email);
    expect(output).not.toContain(PASSWORD);
    const uploaded = await startTerminal(['upload', 'examples/sample.pdf']).ended;
    expect(uploaded).toMatch(/sample\.pdf \[#+-*\] \d+ % of/);
  });

  test('an import shows that it is under way', async () => {
    await signIn();
    await writeFile(join(home, 'people.csv'), 'email;name\nada@example.org;Ada\nnobody;Nobody\n');
    const output = await startTerminal(['contacts', 'import', join(home, 'people.csv')]).ended;
    expect(output).toMatch(/Importing \d+ B … 0 s/);
    expect(output).toMatch(/Created 1, updated 0, left out 1\r?\nLine 3: email must be .*\r?\nstatus 1/);
    const again = await cli.run(['contacts', 'import', join(home, 'people.csv'), '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ created: 0, skipped_count: 1 });
    const missing = await cli.run(['contacts', 'import', 'nothing.csv']);
    expect(missing).toMatchObject({ status: 1, stderr: 'There is no file nothing.csv\n' });
  });

  test('Ctrl-C at a question ends the command with status 130', async () => {
    const terminal = startTerminal(['login', '--url', app.url]);
    await terminal.answer('Email: ', team.owner.email);
    await terminal.answer('Password: ', '\u0003');
    expect(await terminal.ended).toContain('status 130');
  });

  /** Runs the command line in a terminal of its own. Its output ends with its status. */
  function startTerminal(args: string[]) {
    const command = [process.execPath, join(root, 'src/lynxroom.ts'), ...args].join(' ');
    const env = { PATH: process.env.PATH, HOME: home };
    const child = spawn('script', ['-qec', `${command}; echo status $?`, '/dev/null'], { cwd: root, env });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    return {
      ended: once(child, 'close').then(() => output),
      async answer(question: string, text: string) {
        await eventually(async () => output.includes(question));
        child.stdin.write(`${text}\r`);
      },
    };
  }
});

describe('signed in', () => {
  beforeEach(() => signIn());

  test('uploads, lists, links and downloads files', async () => {
    const files = join(home, 'files');
    await mkdir(files);
    const bytes = makePdf({});
    await writeFile(join(files, 'Offer.pdf'), bytes);
    await writeFile(join(files, 'notes.txt'), 'plain text');

    const item = await cli.json(['upload', join(files, 'Offer.pdf'), '--name', 'The offer', '--description', 'Draft']);
    expect(item).toMatchObject({ name: 'The offer', description: 'Draft', size: bytes.length });
    const some = await cli.run(['upload', join(files, 'notes.txt'), join(files, 'Offer.pdf')]);
    expect(some.status).toBe(1);
    expect(some.stderr).toBe(`${join(files, 'notes.txt')}: Only PDF and MP4 files are supported\n`);
    expect(some.stdout).toMatch(/^Uploaded Offer\.pdf as item \d+ \(\d+ B\)\n$/);

    const listed = await cli.json(['ls', 'OFFER', '--sort', 'name', '--order', 'asc']);
    expect(listed.items.map(({ name }: { name: string }) => name)).toEqual(['Offer.pdf', 'The offer']);
    const first = await cli.run(['ls', '--limit', '1']);
    const [, cursor = ''] = /^More: --cursor (\S+)$/m.exec(first.stderr) ?? [];
    expect((await cli.run(['ls', '--limit', '1', '--cursor', cursor])).stdout).toContain('The offer');
    expect((await cli.json(['ls', 'offer', '--limit', '1', '--all'])).items.length).toBe(2);

    const link = await cli.json(['download', String(item.id), '--link']);
    expect((await fetch(link.url)).status).toBe(200);
    const output = join(files, 'copy.pdf');
    await writeFile(`${output}.part`, 'of another program');
    await cli.json(['download', String(item.id), '--output', output]);
    expect(await readFile(`${output}.part`, 'utf8')).toBe('of another program');
    expect(await readFile(output)).toEqual(Buffer.from(bytes));
    const again = await cli.run(['download', String(item.id), '--output', output]);
    expect([again.status, again.stderr]).toEqual([
      1,
      `${output} exists already: replace it with --force, or name another file with --output\n`,
    ]);
  });

  test('stores a file under the filename with which the service serves it', async () => {
    const here = createCommandLine(home, [join(root, 'src/lynxroom.ts')]);
    const names = { 'Invoice 1/2026.pdf': 'Invoice 1-2026.pdf', 'run.bat': 'run.bat.pdf', Übersicht: 'Übersicht.pdf' };
    for (const [name, file] of Object.entries(names)) {
      const { id } = await cli.json(['upload', 'examples/sample.pdf', '--name', name]);
      expect(await here.json(['download', String(id)], { cwd: home })).toMatchObject({ file, item: { name } });
      expect((await stat(join(home, file))).size).toBe(627);
      expect((await here.run(['download', String(id)], { cwd: home })).stderr).toContain(`${file} exists already`);
    }
  });

  test('creates, lists and deletes rooms', async () => {
    await cli.json(['rooms', 'create', 'stand-up', '--title', 'Stand-up', '--waiting-room']);
    const { rooms } = await cli.json(['rooms', 'list']);
    expect(rooms).toMatchObject([{ name: 'stand-up', display_name: 'Stand-up', waiting_room_enabled: 1 }]);
    expect((await cli.run(['rooms', 'list'])).stdout).toMatch(/^NAME +TITLE .*\nstand-up +Stand-up +0 /);
    expect((await cli.run(['rooms', 'create', 'stand-up'])).stderr).toBe('Room name already taken\n');
    expect(await cli.run(['rooms', 'delete', 'stand-up'])).toMatchObject({ stdout: 'Deleted the room stand-up\n' });
    expect(await cli.json(['rooms', 'list'])).toMatchObject({ rooms: [] });
  });

  test('creates, lists and revokes API keys', async () => {
    const created = await cli.run(['keys', 'create', 'Nightly import']);
    const key = created.stdout.trim();
    expect(key).toMatch(/^lnx_\w{40}$/);
    const { apiKeys } = await cli.json(['keys', 'list']);
    const found = apiKeys.find(({ name }: { name: string }) => name === 'Nightly import');
    expect((await cli.run(['ls', '--url', app.url], { env: { LYNXROOM_TOKEN: key } })).status).toBe(0);
    const byKey = await cli.run(['keys', 'create', 'Another'], { env: { LYNXROOM_TOKEN: key, LYNXROOM_URL: app.url } });
    expect(byKey.stderr).toMatch(/^Forbidden: the account or API key that lynxroom whoami shows may not do this/);
    await cli.json(['keys', 'revoke', String(found.id)]);
    expect((await cli.run(['ls', '--url', app.url], { env: { LYNXROOM_TOKEN: key } })).status).toBe(3);
  });

  test('calls any operation, and reports errors as the service does', async () => {
    const label = await cli.json(['api', '/labels', '--data', '{"name":"Contracts","color":"#0ea5e9"}']);
    expect(label).toMatchObject({ label: { name: 'Contracts' } });
    expect(await cli.json(['api', '/api/dashboard/recordings'])).toMatchObject({ recordings: [] });
    expect(await cli.json(['api', 'delete', `/labels/${label.label.id}`])).toEqual({ ok: true });

    const refused = await cli.run(['api', '/labels', '--data', '{"name":""}', '--json']);
    expect(refused.status).toBe(1);
    const { error } = JSON.parse(refused.stderr);
    expect(error).toMatchObject({ message: 'Name is required', code: 'BAD_REQUEST', status: 400 });
    expect(error.issues).toMatchObject([{ path: 'name' }]);
    expect((await cli.run(['api', 'BREW', '/coffee'])).status).toBe(2);
  });

  test('names of other people cannot control the terminal', async () => {
    await team.member.client.upload({
      id: team.id,
      file: new Blob([Uint8Array.from(makePdf({}))], { type: 'application/pdf' }),
      name: 'safe',
    });
    // The service refuses control characters in names today. Older rows may have them.
    await app.services.db.$executeRaw`update library_items set name = ${'\u001b[2Jred'} where name = 'safe'`;
    expect((await cli.run(['ls', 'red'])).stdout).not.toContain('\u001b');
  });
});

test('a service that does not answer ends with status 4', async () => {
  const env = {
    LYNXROOM_URL: `http://127.0.0.1:${await freePort()}`,
    LYNXROOM_TOKEN: 'lns_x',
    LYNXROOM_WORKSPACE: '1',
  };
  for (const args of [['ls'], ['api', '/labels'], ['upload', 'examples/sample.pdf']]) {
    const { status, stderr } = await cli.run(args, { env });
    expect([args, status]).toEqual([args, 4]);
    expect(stderr).toMatch(/^The service does not answer: connect ECONNREFUSED [\d.:]+\n$/);
  }
});

test('an address of something else ends with status 4', async () => {
  const other = createServer((_request, response) => response.end('<html>Welcome</html>')).listen(0, '127.0.0.1');
  await once(other, 'listening');
  // `as`: a server that listens on a port has an address of this type.
  const { port } = other.address() as AddressInfo;
  const env = { LYNXROOM_URL: `http://127.0.0.1:${port}`, LYNXROOM_TOKEN: 'lns_x', LYNXROOM_WORKSPACE: '1' };
  const { status, stderr } = await cli.run(['ls'], { env });
  expect([status, stderr]).toEqual([
    4,
    expect.stringMatching(/^The response did not come from a Lynxroom service: .*\n$/),
  ]);
  other.close();
});
