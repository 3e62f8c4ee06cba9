/** For Prisma's own CLI, which this project does not install: `npx prisma migrate deploy` where it can be downloaded. */
export default {
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
};
