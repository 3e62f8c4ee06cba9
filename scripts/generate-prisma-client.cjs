/**
 * Generates the Prisma client from prisma/schema.prisma into src/db/generated, without the `prisma` CLI: the CLI takes
 * 300 MB and downloads an engine that is not needed here. scripts/setup.mjs runs it when the schema has changed. This
 * file is CommonJS, because the generator's ESM build does not load.
 */
const { mkdirSync, readFileSync, renameSync, rmSync } = require('node:fs');
const { join } = require('node:path');
const { PrismaClientTsGenerator, getDMMF } = require('@prisma/client-generator-ts');

const root = join(__dirname, '..');
const schemaPath = join(root, 'prisma/schema.prisma');
const outputDirectory = join(root, 'src/db/generated');

generate().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});

/** Generates into a directory beside the output and renames it, so that an existing client is always complete. */
async function generate() {
  const directory = stage();
  try {
    await generateInto(directory);
    rmSync(outputDirectory, { recursive: true, force: true });
    renameSync(directory, outputDirectory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Creates a directory beside the output, so that it can be renamed. */
function stage() {
  const directory = `${outputDirectory}.${process.pid}`;
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** @param {string} directory */
async function generateInto(directory) {
  const datamodel = readFileSync(schemaPath, 'utf8');
  const { provider = '', output: _, ...config } = readBlock(datamodel, 'generator').settings;
  const datasource = readBlock(datamodel, 'datasource');
  await new PrismaClientTsGenerator().generate({
    generator: {
      name: 'client',
      provider: { value: provider, fromEnvVar: null },
      output: { value: directory, fromEnvVar: null },
      config,
      binaryTargets: [],
      previewFeatures: [],
      sourceFilePath: schemaPath,
    },
    otherGenerators: [],
    schemaPath,
    dmmf: await getDMMF({ datamodel: [['schema.prisma', datamodel]] }),
    datamodel,
    datasources: [
      {
        name: datasource.name,
        provider: 'postgresql',
        activeProvider: 'postgresql',
        schemas: [],
        sourceFilePath: schemaPath,
      },
    ],
    version: versionOf('@prisma/client'),
    binaryPaths: {},
  });
}

/**
 * @param {string} name of an installed package
 * @returns {string}
 */
function versionOf(name) {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version;
}

/**
 * Reads the `key = "value"` settings of a block such as `generator client { ... }`.
 *
 * @param {string} schema
 * @param {'generator' | 'datasource'} kind
 * @returns {{ name: string, settings: Record<string, string> }}
 */
function readBlock(schema, kind) {
  const [, name, body] = schema.match(new RegExp(`^${kind}\\s+(\\w+)\\s*\\{([^}]*)\\}`, 'm')) ?? [];
  if (name === undefined || body === undefined) throw new Error(`prisma/schema.prisma has no ${kind} block`);
  const settings = Object.fromEntries(
    [...body.matchAll(/^\s*(\w+)\s*=\s*"([^"]*)"/gm)].map(([, key, value]) => [key, value]),
  );
  return { name, settings };
}
