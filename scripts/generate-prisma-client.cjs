/**
 * Generates the Prisma client from prisma/schema.prisma into src/db/generated, without the `prisma` CLI: the CLI takes
 * 300 MB and downloads an engine that is not needed here. This file is CommonJS, because the generator's ESM build does
 * not load. It must load on Node 18, because setup.mjs imports it.
 */
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');
const schemaPath = join(root, 'prisma/schema.prisma');
const outputDirectory = join(root, 'src/db/generated');
/** Contains the hash of the schema from which the existing client was generated. */
const hashFile = join(outputDirectory, '.schema-hash');

module.exports = { schemaHash, hashFile };

if (require.main === module) {
  generate().catch((error) => {
    process.stderr.write(`Failed to generate the Prisma client: ${error.message}\n`);
    process.exitCode = 1;
  });
}

/** Generates into a directory beside the output and renames it, so that an existing client is always complete. */
async function generate() {
  const { getDMMF, PrismaClientTsGenerator } = require('@prisma/client-generator-ts');
  const datamodel = readFileSync(schemaPath, 'utf8');
  const hash = schemaHash();
  const staged = `${outputDirectory}.${process.pid}`;
  const { provider = '', output: _, ...config } = readBlock(datamodel, 'generator').settings;
  const datasource = readBlock(datamodel, 'datasource');
  try {
    mkdirSync(staged, { recursive: true });
    await new PrismaClientTsGenerator().generate({
      generator: {
        name: 'client',
        provider: { value: provider, fromEnvVar: null },
        output: { value: staged, fromEnvVar: null },
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
    writeFileSync(join(staged, '.schema-hash'), hash);
    rmSync(outputDirectory, { recursive: true, force: true });
    renameSync(staged, outputDirectory);
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

/**
 * Returns a SHA-256 hash of everything that determines the generated client: the schema, the generator's version and
 * this script.
 */
function schemaHash() {
  return createHash('sha256')
    .update(readFileSync(schemaPath))
    .update(versionOf('@prisma/client-generator-ts'))
    .update(readFileSync(__filename))
    .digest('hex');
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
