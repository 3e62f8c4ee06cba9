/** The naive server over REST, by trpc-to-openapi. */
import http from 'node:http';
import { createOpenApiHttpHandler } from 'trpc-to-openapi';
import { appRouter } from './router.ts';

// createOpenApiHttpHandler hands createContext a fetch Request, whatever its type says.
const createContext = ({ req }: { req: unknown }) => ({
  authorization: (req as Request).headers.get('authorization') ?? undefined,
});
http
  .createServer(createOpenApiHttpHandler({ router: appRouter, createContext } as never))
  .listen(Number(process.env.PORT), '127.0.0.1', () => console.log('ready'));
