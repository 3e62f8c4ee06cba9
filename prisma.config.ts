/** Configures Prisma's command line, for `npx prisma studio`, `format` and `validate`; see docs/development.md. */
const [command = ''] = process.argv.slice(2);

// Every command downloads the schema engine when it starts, but only these use it. Others take any file in its place.
if (!['migrate', 'db'].includes(command)) process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

export default {
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
};
