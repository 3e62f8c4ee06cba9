/** The samples of code in the OpenAPI document can be parsed, and those in TypeScript match the client's types. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { document } from '../support/api.ts';
import { listOperations } from './document.ts';

type Sample = { lang: string; label: string; source: string };

const samples = listOperations({ paths: document.paths }).flatMap(({ operationId, ...operation }) =>
  (operation['x-codeSamples'] as Sample[]).map((sample) => ({ operationId, ...sample })),
);
const root = fileURLToPath(new URL('../../', import.meta.url));

function sourcesIn(lang: string): string[] {
  return samples.filter((sample) => sample.lang === lang).map(({ source }) => source);
}

test('every operation has a sample for curl, TypeScript and Python', () => {
  const operations = listOperations({ paths: document.paths });
  for (const lang of ['Shell', 'TypeScript', 'Python']) expect(sourcesIn(lang)).toHaveLength(operations.length);
  expect(samples.filter(({ source }) => /undefined|\[object|\{\w+\}\//.test(source))).toEqual([]);
});

test('bash parses the samples for curl', () => {
  // Each in a function of its own, so that one call of bash checks them all.
  const script = sourcesIn('Shell').map((source, index) => `f${index}() {\n${source}\n}`);
  const { status, stderr } = spawnSync('bash', ['-n'], { input: script.join('\n'), encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});

test('Python parses the samples for requests, where it is installed', ({ skip }) => {
  const program = 'import ast, json, sys\nfor source in json.load(sys.stdin): ast.parse(source)';
  const { error, status, stderr } = spawnSync('python3', ['-c', program], {
    input: JSON.stringify(sourcesIn('Python')),
    encoding: 'utf8',
  });
  skip(error !== undefined, 'python3 is not installed');
  expect([status, stderr]).toEqual([0, '']);
});

test('the samples in TypeScript have no type errors', () => {
  // In the checkout, so that the packages are found, and ignored by git.
  const folder = join(root, '.data/code-samples');
  mkdirSync(folder, { recursive: true });
  try {
    for (const { operationId, source } of samples.filter(({ lang }) => lang === 'TypeScript'))
      writeFileSync(join(folder, `${operationId}.ts`), `${source}\nexport {};\n`);
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: '../../tsconfig.json',
        compilerOptions: {
          paths: { '@lynxroom/client': ['../../packages/client/src/index.ts'] },
          noUnusedLocals: false,
        },
        include: ['*.ts'],
        exclude: [],
      }),
    );
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '--noEmit', '-p', folder], { encoding: 'utf8' });
    expect(stdout).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
