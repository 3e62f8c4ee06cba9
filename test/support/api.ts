/** Every operation of the API, as the tests use it. */
import { createOpenApiDocument } from '../../src/openapi/document.ts';
import { appRouter, rawOperations } from '../../src/routers/index.ts';
import { listOperations } from '../../src/trpc/operations.ts';

export { rawOperations };

/** The procedures with a REST path. */
export const operations = listOperations(appRouter);

export const api = { router: appRouter, rawOperations };

/** The document that a server without a public URL sends. */
export const document = createOpenApiDocument(api, '/');
