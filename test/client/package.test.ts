/**
 * What a project gets that installs the packed client, and that the examples of the pages run in it as printed.
 * `consumer.test.ts` installs the client with npm, and uses it in a browser.
 */
import { readFileSync } from 'node:fs';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
// It comes with vitest.
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedHeaders } from '../../src/webhook-delivery/signature.ts';
import { createSigningKey } from '../../src/webhook-delivery/signing-keys.ts';
import { readPages } from '../docs/pages.ts';
import { startTestDelivery, type TestDelivery } from '../support/delivery.ts';
import { freePort } from '../support/free-port.ts';
import { startCommand } from '../support/script-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, type Person } from '../support/world.ts';
import { examplesOf, installClient, packClient, root, run } from './packed-client.ts';

/** The documented maximum. It holds for the modules as packed; bundlers make them smaller. */
const MAX_GZIP_BYTES = 11_500;

const clientPage = readFileSync(join(root, 'packages/client/README.md'), 'utf8');
const isReactQuery = (example: string): boolean =>
  /createTRPCOptionsProxy|useInfiniteQuery|useSubscription/.test(example);
const readmeExamples = examplesOf(readFileSync(join(root, 'README.md'), 'utf8'));
const clientExamples = examplesOf(clientPage).filter((example) => !isReactQuery(example));
/** Those of the guides, which test/docs runs. They only have to compile here. */
const guideExamples = readPages()
  .flatMap(({ blocks }) => blocks)
  .filter(({ language, noRun }) => language === 'ts' && noRun === null)
  .map(({ code }) => code);

let project: string;
let installed: string;
beforeAll(async () => {
  project = await makeTempDir();
  installed = await installClient(await packClient(project), project);
  await cp(join(root, 'test/client/fixtures'), project, { recursive: true });
  // Programs for Node alone: the others are also compiled with the types of a browser.
  await cp(join(root, 'test/client/node-fixtures'), project, { recursive: true });
  await writeFile(join(project, 'package.json'), '{"type":"module"}');
  await writeFile(join(project, 'readme.ts'), readmeExamples.join('\n'));
  await writeFile(join(project, 'client.ts'), clientExamples.join('\n'));
  for (const [index, code] of guideExamples.entries()) await writeFile(join(project, `guide-${index}.ts`), code);
});
afterAll(() => rm(project, { recursive: true, force: true }));

function read(path: string): string {
  return readFileSync(join(installed, path), 'utf8');
}

/** The modules of an entry of the package, whose folder in `dist` has no others. */
async function readModules(folder: 'dist' | 'dist/meeting' | 'dist/testing'): Promise<string[]> {
  const names = await readdir(join(installed, folder));
  return names.filter((name) => name.endsWith('.js')).map((name) => read(`${folder}/${name}`));
}

test('the package has built modules with sources and maps, a file of types per entry, and nothing else', async () => {
  const sources = (await readFiles(join(root, 'packages/client/src'))).sort();
  expect((await readFiles(join(installed, 'src'))).sort()).toEqual(sources);
  const built = sources
    .filter((name) => name.endsWith('.ts') && name !== 'contract.ts')
    .map((name) => name.replace('.ts', '.js'));
  const expected = [
    ...built,
    ...built.map((name) => `${name}.map`),
    'index.d.ts',
    'meeting/index.d.ts',
    'testing/index.d.ts',
    'LICENSE',
  ];
  expect((await readFiles(join(installed, 'dist'))).sort()).toEqual(expected.sort());
  expect((await readdir(installed)).sort()).toEqual(['README.md', 'dist', 'package.json', 'src']);
  for (const name of built) {
    expect(read(`dist/${name}`)).toContain(`//# sourceMappingURL=${basename(name)}.map`);
    const [source = ''] = JSON.parse(read(`dist/${name}.map`)).sources;
    expect(join(dirname(`dist/${name}`), source)).toBe(`src/${name.replace('.js', '.ts')}`);
  }
});

/** The files below a folder, by their paths in it. */
async function readFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
}

test('the package depends on tRPC 11 alone', () => {
  const { dependencies, peerDependencies } = JSON.parse(read('package.json'));
  expect(dependencies).toBeUndefined();
  expect(peerDependencies).toEqual({ '@trpc/client': '^11.4.0', '@trpc/server': '^11.4.0' });
});

test('the modules import only each other and tRPC, so nothing of Node', async () => {
  const specifiers = (await readModules('dist')).flatMap(importsOf);
  expect(specifiers.length).toBeGreaterThan(5);
  expect(specifiers.filter((specifier) => !/^(?:\.\/[^/]+$|@trpc\/)/.test(specifier))).toEqual([]);
});

test('the modules of meetings import only each other and the client', async () => {
  const specifiers = (await readModules('dist/meeting')).flatMap(importsOf);
  expect(specifiers.filter((specifier) => !/^\.\/[^/]+$/.test(specifier) && specifier !== '../index.js')).toEqual([]);
});

test('the module for tests imports only the client and tRPC, and the client has nothing of it', async () => {
  const specifiers = (await readModules('dist/testing')).flatMap(importsOf);
  expect(specifiers.filter((specifier) => !/^(?:\.\.\/[^/]+$|@trpc\/)/.test(specifier))).toEqual([]);
  expect((await readModules('dist')).join('')).not.toMatch(/createMock/);
});

function importsOf(code: string): string[] {
  return [...code.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)].map(([, specifier = '']) => specifier);
}

test('the modules have at most 11.5 kB after gzip', async () => {
  expect(gzipSync((await readModules('dist')).join('')).length).toBeLessThanOrEqual(MAX_GZIP_BYTES);
});

test.each([
  ['alone', /takes less than (\d+) kB in a compressed bundle/, [/^@trpc/]],
  ['with tRPC', /\((\d+) kB with\s+tRPC\)/, []],
] as const)('a bundle of the client %s is as small as its page says', async (_what, text, external) => {
  const input = join(project, 'bundle.js');
  await writeFile(input, `export { createClient, isLynxroomError } from '@lynxroom/client';`);
  await using bundle = await rolldown({ input, external: [...external] });
  const { output } = await bundle.generate({ minify: true });
  const bytes = output.reduce((sum, part) => sum + (part.type === 'chunk' ? gzipSync(part.code).length : 0), 0);
  expect(Math.ceil(bytes / 1000)).toBe(Number(text.exec(clientPage)?.[1]));
});

test('a bundle with meetings is as small as the pages say, and the client has nothing of them', async () => {
  const input = join(project, 'meeting.js');
  await writeFile(input, `export { createMeeting } from '@lynxroom/client/meeting';`);
  // The client itself is in the bundle of the page already.
  await using bundle = await rolldown({ input, external: [/^@trpc/, /^\.\.\/index\.js$/] });
  const { output } = await bundle.generate({ minify: true });
  const bytes = output.reduce((sum, part) => sum + (part.type === 'chunk' ? gzipSync(part.code).length : 0), 0);
  const guide = readFileSync(join(root, 'docs/meeting-client.md'), 'utf8');
  const stated = [clientPage, guide].map(
    (page) => /less than (\d+) kB in a compressed bundle, besides/.exec(page)?.[1],
  );
  expect(stated.map(Number)).toEqual([Math.ceil(bytes / 1000), Math.ceil(bytes / 1000)]);
  expect((await readModules('dist')).join('')).not.toMatch(/meeting\/|RTCPeerConnection/);
});

test('the guide shows the whole script of the example', () => {
  const [, example] =
    /^```js no-run="test\/console[^\n]*\n(.*?)^```$/ms.exec(
      readFileSync(join(root, 'docs/meeting-client.md'), 'utf8'),
    ) ?? [];
  expect(example).toBe(readFileSync(join(root, 'examples/meeting/meeting.js'), 'utf8'));
});

test('the types name nothing of the server', () => {
  const text = read('dist/index.d.ts');
  const specifiers = [...text.matchAll(/(?:from |import\()['"]([^'"]+)['"]/g)].map(([, specifier]) => specifier);
  expect([...new Set(specifiers)].sort()).toEqual(['@trpc/client', '@trpc/server']);
  expect(text).not.toMatch(/prisma|fastify|services|database|\bpg\b|\bzod\b/i);
});

test('the types are complete and those of the API, and the examples compile', async () => {
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    types: ['node'],
    lib: ['es2024', 'dom', 'dom.iterable', 'esnext.disposable'],
  };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const errors = await run(process.execPath, [tsc, '-p', project]).catch(({ stdout }) => stdout);
  expect(errors).toMatchObject({ stdout: '' });
});

describe('against a server:', () => {
  let app: TestApp;
  let delivery: TestDelivery;
  let person: Person;
  let env: Record<string, string>;
  beforeAll(async () => {
    app = await startTestApp();
    delivery = await startTestDelivery(app);
    person = await addPerson(app);
    env = { PATH: process.env.PATH ?? '', LYNXROOM_URL: app.url, LYNXROOM_TOKEN: person.token };
    await mkdir(join(project, 'examples'));
    const samples = { 'examples/sample.pdf': 'sample.pdf', 'offer.pdf': 'sample.pdf', 'talk.mp4': 'sample.mp4' };
    for (const [to, from] of Object.entries(samples)) await cp(join(root, 'examples', from), join(project, to));
  });
  afterAll(async () => {
    await delivery.stop();
    await app.close();
  });

  test('the example of the README uploads a file and finds it', async () => {
    expect(readmeExamples).toHaveLength(1);
    const { stdout } = await run(process.execPath, ['readme.ts'], { cwd: project, env });
    expect(stdout).toMatch(/^Uploaded item 1\. 1 found: Offer\.pdf$/m);
  });

  test("the examples of the client's page call, upload, listen, and verify webhooks", async () => {
    expect(clientExamples).toHaveLength(8);
    const secret = `whsec_${Buffer.from('a secret of thirty-two bytes....').toString('base64')}`;
    const port = await freePort();
    const program = startCommand(
      [process.execPath, 'client.ts'],
      { ...env, WEBHOOK_SECRET: secret, PORT: String(port) },
      (output) => output.includes('Waiting for webhooks') || undefined,
      project,
    );
    try {
      await program.ready;
      expect(program.output()).toMatch(/^true$/m);
      expect(program.output()).toMatch(/^400 BAD_REQUEST Name is required [0-9a-f-]{36} \[/m);
      expect(program.output()).toMatch(/^100 %\nOffer\.pdf 627$/m);
      expect(program.output()).toMatch(/^talk\.mp4 3$/m);
      expect(program.output()).toMatch(/^green-fox\n\{ labels: \[\] \}\ntrue\n\{ operation: 'labels\.create', /m);
      await expect.poll(() => program.output()).toMatch(/^Event \d+: Offer\.pdf was uploaded$/m);
      expect(await postMessage(port, `whsec_${Buffer.from('another secret').toString('base64')}`)).toBe(401);
      expect(await postMessage(port, secret)).toBe(204);
      await expect.poll(() => program.output()).toMatch(/^Vera joined$/m);
    } finally {
      await program.end('SIGTERM');
    }
  });

  test('a program reads all pages with this client, and with that of the last version', async () => {
    const earlier = join(project, 'earlier');
    await installClient(join(root, 'test/client/released/lynxroom-client-0.2.0.tar.gz'), earlier);
    await cp(join(project, 'package.json'), join(earlier, 'package.json'));
    await cp(join(project, 'read-pages.ts'), join(earlier, 'read-pages.ts'));
    for (const cwd of [project, earlier]) {
      const { stdout } = await run(process.execPath, ['read-pages.ts'], { cwd, env });
      expect([cwd, stdout]).toEqual([cwd, 'Red, Green\nBlue\noffer.pdf 1\nCONFLICT\n']);
    }
  });

  test('a program learns that its session has ended, and not from a wrong password', async () => {
    const { token, email } = await addPerson(app);
    const { stdout } = await run(process.execPath, ['unauthorized.ts'], {
      cwd: project,
      env: { ...env, LYNXROOM_TOKEN: token, EMAIL: email },
    });
    expect(stdout).toBe('UNAUTHORIZED 0\nBAD_REQUEST 0\nUNAUTHORIZED 1\n');
  });

  test('the examples with React Query are part of the React example, or compile with it', () => {
    const files = ['examples/react/src/lynxroom.ts', 'examples/react/src/Library.tsx'];
    // Compiles with the React example, but is no part of it.
    const compiled = 'test/client/fixtures/react/live-library.ts';
    const sources = [...files, compiled].map((name) => readFileSync(join(root, name), 'utf8')).join('');
    const examples = examplesOf(clientPage).filter(isReactQuery);
    expect(examples).toHaveLength(3);
    // The body of a component is indented.
    for (const example of examples) expect(sources + sources.replace(/^ {2}/gm, '')).toContain(example);
    const [, json = ''] = /^```json\n(.*?)^```$/ms.exec(clientPage) ?? [];
    expect(JSON.parse(readFileSync(join(root, 'examples/react/package.json'), 'utf8'))).toMatchObject(JSON.parse(json));
  });
});

/** Sends a message to the receiver on `port` as the service does. Resolves with the status of the response. */
async function postMessage(port: number, secret: string): Promise<number> {
  const timestamp = new Date().toISOString();
  const data = { room_name: 'green-fox', room_id: 1, participant_name: 'Vera' };
  const body = JSON.stringify({ event: 'room.joined', timestamp, data });
  const message = { messageId: 'msg_1', event: 'room.joined', timestamp, attemptAt: new Date(), body } as const;
  const headers = signedHeaders({ ...message, keys: [createSigningKey(secret)] });
  return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers })).status;
}
