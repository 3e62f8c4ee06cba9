/**
 * Generates the Prisma client from prisma/schema.prisma into src/db/generated, without the `prisma` CLI: that is 300 MB and
 * downloads an engine which generating does not use. CommonJS, because the generator's ESM build does not load.
 *
 * `schemaHash` says what a client was generated from; setup.mjs compares it with the one kept beside the client.
 */
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');
const schemaPath = join(root, 'prisma/schema.prisma');
const outputFolder = join(root, 'src/db/generated');
const hashFile = join(outputFolder, '.schema-hash');

function versionOf(name) {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version;
}

/** A sha-256 over all that decides what is generated: the schema, the generator's version, this script. */
function schemaHash() {
  return createHash('sha256')
    .update(readFileSync(schemaPath))
    .update(versionOf('@prisma/client-generator-ts'))
    .update(readFileSync(__filename))
    .digest('hex');
}

/** The plain `key = "value"` settings of a block such as `generator client { ... }`. */
function readBlock(schema, kind) {
  const [, name, body] = schema.match(new RegExp(`^${kind}\\s+(\\w+)\\s*\\{([^}]*)\\}`, 'm')) ?? [];
  if (body === undefined) throw new Error(`prisma/schema.prisma has no ${kind} block`);
  const settings = Object.fromEntries(
    [...body.matchAll(/^\s*(\w+)\s*=\s*"([^"]*)"/gm)].map(([, key, value]) => [key, value]),
  );
  return { name, settings };
}

/** Generates beside the output folder and renames, so that a client that is there is whole. */
async function generate() {
  const { getDMMF, PrismaClientTsGenerator } = require('@prisma/client-generator-ts');
  const datamodel = readFileSync(schemaPath, 'utf8');
  const hash = schemaHash();
  const staged = `${outputFolder}.${process.pid}`;
  const { provider, output: _, ...config } = readBlock(datamodel, 'generator').settings;
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
          provider: datasource.settings.provider,
          activeProvider: datasource.settings.provider,
          url: { value: null, fromEnvVar: null },
          schemas: [],
          sourceFilePath: schemaPath,
        },
      ],
      version: versionOf('@prisma/client'),
      binaryPaths: {},
    });
    writeFileSync(join(staged, '.schema-hash'), hash);
    rmSync(outputFolder, { recursive: true, force: true });
    renameSync(staged, outputFolder);
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

module.exports = { schemaHash, hashFile };

if (require.main === module) {
  generate().catch((error) => {
    process.stderr.write(`The Prisma client could not be generated: ${error.message}\n`);
    process.exitCode = 1;
  });
}
