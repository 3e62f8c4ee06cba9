/** Projects with generated clients, made as `docs/generated-clients.md` says. */
import { readFileSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { root, run } from '../client/packed-client.ts';

const page = readFileSync(join(root, 'docs/generated-clients.md'), 'utf8');

const tsconfig = {
  compilerOptions: {
    target: 'es2024',
    module: 'esnext',
    moduleResolution: 'bundler',
    noEmit: true,
    // The declarations of the generators, which `*.config.ts` imports, are not ours.
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  },
  include: ['*/src'],
};

export type Project = {
  /** The packages that the page says to install, such as `typescript@5`. */
  packages: string[];
  /** Generates the client. */
  generate: string;
  /** The path of each file of the page, and its text. */
  files: [path: string, text: string][];
};

/** What a section of the page says. */
export function readSection(title: string): Project {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? '';
  const [, shell = ''] = /^```sh\n(.*?)^```$/ms.exec(section) ?? [];
  const installs = [...shell.matchAll(/^npm install (.*)$/gm)].map(([, names = '']) => names);
  return {
    packages: installs.flatMap((names) => names.split(' ').filter((name) => !name.startsWith('--'))),
    generate: shell.replaceAll(/^(?:npm|pip) install .*\n/gm, ''),
    files: [...section.matchAll(/^```(?:[jt]s\n\/\/|python\n#) (\S+)\n(.*?)^```$/gms)].map(
      ([, path = '', text = '']) => [path, text],
    ),
  };
}

/** Writes a project with the files of the page, and the program `fixture` as `src/job.ts` or `src/job.py`. */
export async function writeProject(dir: string, { files }: Project, fixture: string): Promise<void> {
  for (const [path, text] of files) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  await cp(join(root, 'test/generated-clients/fixtures', fixture), join(dir, 'src', `job${extname(fixture)}`));
  await cp(join(root, 'examples/sample.pdf'), join(dir, 'offer.pdf'));
  await writeFile(join(dir, 'package.json'), '{"type":"module"}');
}

/** Compiles all projects in `dir`, except some. Returns the errors. */
export async function compile(dir: string, typescriptDir: string, except: string[] = []): Promise<string> {
  const exclude = except.map((project) => join(project, 'src'));
  await writeFile(join(dir, 'tsconfig.json'), JSON.stringify({ ...tsconfig, exclude }));
  const args = [join(typescriptDir, 'bin/tsc'), '--project', dir];
  const { stdout } = await run(process.execPath, args).catch((error: { stdout: string }) => error);
  return stdout;
}

/** Removes the line with which a generated file tells the compiler not to check it. */
export async function checkTypes(path: string): Promise<void> {
  await writeFile(path, (await readFile(path, 'utf8')).replace(/^\/\/ @ts-nocheck\n/m, ''));
}
