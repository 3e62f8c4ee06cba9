/**
 * Builds `dist/`: the modules as JavaScript, and one declaration file that needs nothing from the server. tsc prints
 * the type of every input and output in full. It also names the server's types of the context and of the metadata,
 * which clients never use, so they are replaced with `object`. The texts of the operations come from the OpenAPI
 * document.
 *
 * The modules of meetings are for browsers alone. They are compiled afterwards with the types of browsers, against that
 * declaration file, and have one of their own.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { documentOperations } from './document-operations.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const BUILT = 'build/packages/client/src';
const BUILT_TESTING = `${BUILT}/testing`;
const BUILT_MEETING = 'build/meeting';

for (const folder of ['build', 'dist']) rmSync(here(folder), { recursive: true, force: true });
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
compile('tsconfig.json', '--emitDeclarationOnly');
// The texts are in the declarations, and the sources in the package.
compile('tsconfig.json', '--noCheck', '--removeComments', '--declaration', 'false');

mkdirSync(here('dist/testing'), { recursive: true });
for (const name of [...readdirSync(here(BUILT)), 'testing/index.js', 'testing/index.js.map'])
  if (/\.js(?:\.map)?$/.test(name) && !name.startsWith('contract.'))
    // The maps lead from `build/packages/client/src` to `src`.
    writeFileSync(here(`dist/${name}`), read(`${BUILT}/${name}`).replace('../../../../src/', '../src/'));
writeFileSync(here('dist/index.d.ts'), createDeclarations());
writeFileSync(here('dist/testing/index.d.ts'), createTestingDeclarations());

compile('tsconfig.meeting.json');
mkdirSync(here('dist/meeting'));
for (const name of readdirSync(here(BUILT_MEETING)))
  if (/\.js(?:\.map)?$/.test(name))
    // The client is named as others name it, which a page without a bundler could not resolve.
    writeFileSync(
      here(`dist/meeting/${name}`),
      read(`${BUILT_MEETING}/${name}`).replaceAll("'@lynxroom/client'", "'../index.js'"),
    );
writeFileSync(here('dist/meeting/index.d.ts'), createMeetingDeclarations());
rmSync(here('build'), { recursive: true });
copyFileSync(here('../../LICENSE'), here('dist/LICENSE'));

function compile(config: string, ...options: string[]): void {
  execFileSync(process.execPath, [tsc, '-p', here(config), ...options], { stdio: 'inherit' });
}

/** Only what `index.ts` exports, and the types that it names, is public. */
function createMeetingDeclarations(): string {
  const modules = ['track-kind', 'livekit-types', 'types', 'meeting', 'index'].map((name) =>
    read(`${BUILT_MEETING}/${name}.d.ts`),
  );
  return ["import type { Client } from '../index.js';", ...modules.map(withoutImports)].join('\n');
}

/** The module imports only types of the client, by the path of its sources. */
function createTestingDeclarations(): string {
  const text = read(`${BUILT_TESTING}/index.d.ts`).replaceAll("'../index.ts'", "'../index.js'");
  return text.replaceAll(/^\/\/# sourceMappingURL=.*$/gm, '');
}

function createDeclarations(): string {
  const names = [
    'errors',
    'credential',
    'send-form',
    'resumable-upload',
    'paginate',
    'workspace',
    'webhooks',
    'contract',
    'file-operations',
    'client',
    'index',
  ];
  const modules = names.map((name) => read(`${BUILT}/${name}.d.ts`));
  const router = read('build/src/routers/index.d.ts')
    .replaceAll(/^import [^;]*;\n|^export declare const rawOperations: .*\n/gm, '')
    .replace('export declare const', 'declare const')
    .replace('export type AppRouter', 'type AppRouter');
  const text = [
    "import { type TRPCClient, TRPCClientError, type TRPCLink, type TRPCUntypedClient } from '@trpc/client';",
    "import type * as Trpc from '@trpc/server';",
    "import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';",
    readErrorShape(),
    'interface TrackedData<Data> { id: string; data: Data }',
    documentOperations(
      withoutServerNames(router).replaceAll(
        'import("@trpc/server/unstable-core-do-not-import").TrackedData',
        'TrackedData',
      ),
      new URL('../../docs/openapi.json', import.meta.url),
    ),
    ...modules.map(withoutImports),
  ].join('\n');
  const foreign = /import\("(?!@trpc\/)[^"]*"\)|from '(?!@trpc\/)[^']*'|Prisma|fastify|\bpg\b/i.exec(text);
  if (foreign) throw new Error(`The declarations still name ${foreign[0]}`);
  return text;
}

function read(path: string): string {
  return readFileSync(here(path), 'utf8');
}

function readErrorShape(): string {
  const [shape] = /export interface ErrorShape \{[\s\S]*?\n\}/.exec(read('build/src/trpc/errors.d.ts')) ?? [];
  if (shape === undefined) throw new Error('No ErrorShape in src/trpc/errors.ts');
  return shape
    .replace('TRPC_ERROR_CODE_NUMBER', 'number')
    .replace('readonly Issue[]', 'readonly { path: string; message: string }[]')
    .replace('export interface', 'interface');
}

function withoutServerNames(text: string): string {
  return text
    .replaceAll(/import\("[^"]*trpc\/context\.ts"\)\.(?:CallContext|Context|Meta)/g, 'object')
    .replaceAll(/import\("[^"]*trpc\/errors\.ts"\)\.ErrorShape/g, 'ErrorShape')
    .replaceAll(/import\("@trpc\/server"\)\./g, 'Trpc.');
}

/** All modules are in one file, so their imports are removed. Only what `index.ts` exports is exported. */
function withoutImports(text: string): string {
  return text
    .replaceAll(/^import [^;]*;\n/gm, '')
    .replaceAll(/^export \{ ?AppRouter ?\};\n|^export type \{ ?AppRouter ?\};\n/gm, '')
    .replaceAll(/^(export (?:type )?\{[^}]*\}) from '[^']*';/gm, '$1;')
    .replaceAll(/^export (declare|type|interface|class|function|const)\b(?! \{)/gm, '$1')
    .replaceAll(/^\/\/# sourceMappingURL=.*$/gm, '');
}
