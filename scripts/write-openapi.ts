/**
 * Writes the OpenAPI document to a file, or prints it: `node scripts/write-openapi.ts [<file>]`. `npm run openapi`
 * writes docs/openapi.json, and `--check` fails if that file is not current.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createOpenApiDocument } from '../src/openapi/document.ts';
import { appRouter, rawOperations } from '../src/routers/index.ts';

const committed = new URL('../docs/openapi.json', import.meta.url);
const document = createOpenApiDocument({ router: appRouter, rawOperations }, 'http://127.0.0.1:3000');
const text = `${JSON.stringify(document, null, 2)}\n`;
const [path] = process.argv.slice(2);
if (path === undefined) process.stdout.write(text);
else if (path !== '--check') writeFileSync(path, text);
else if (readFileSync(committed, 'utf8') !== text) {
  console.error('docs/openapi.json is not current: run `npm run openapi`');
  process.exitCode = 1;
}
