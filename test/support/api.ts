/** Every operation of the API, as the tests look at it. */
import { createOpenApiDocument } from '../../src/openapi/document.ts';
import { appRouter, rawOperations } from '../../src/routers/index.ts';
import { listOperations } from '../../src/trpc/operations.ts';

/** The procedures with a REST path. */
export const operations = listOperations(appRouter);

export const api = { router: appRouter, rawOperations };

/** The document as a server sends it that knows no public URL. */
export const document = createOpenApiDocument(api, '/');
