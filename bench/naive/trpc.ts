/** The naive server over tRPC, by tRPC's own adapter. */
import { createHTTPServer } from '@trpc/server/adapters/standalone';
import { appRouter, createContext } from './router.ts';

createHTTPServer({ router: appRouter, createContext }).listen(Number(process.env.PORT), '127.0.0.1', () =>
  console.log('ready'),
);
