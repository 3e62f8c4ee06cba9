/** Prints the OpenAPI document, or writes it to a file: `npm run openapi [-- <file>]`. */
import { writeFileSync } from 'node:fs';
import { createOpenApiDocument } from '../src/openapi/document.ts';
import { appRouter, rawOperations } from '../src/routers/index.ts';

const document = createOpenApiDocument({ router: appRouter, rawOperations }, 'http://127.0.0.1:3000');
const text = `${JSON.stringify(document, null, 2)}\n`;
const [path] = process.argv.slice(2);
if (path === undefined) process.stdout.write(text);
else writeFileSync(path, text);
