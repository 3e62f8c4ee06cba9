/** Configures Prisma's CLI, which this project does not install, for `npx prisma migrate deploy`. */
export default {
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
};
