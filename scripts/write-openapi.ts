/**
 * Writes the OpenAPI document to a file, or prints it: `node scripts/write-openapi.ts [<file>]`. `npm run openapi`
 * writes docs/openapi.json and docs/openapi-3.0.json, and `--check` fails if one of them is not current.
 *
 * A service sends docs/openapi-3.0.json with its own URL and code samples, so that it does not need the packages that
 * convert the document.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createOpenApiDocument } from '../src/openapi/document.ts';
import { withoutCodeSamples } from '../src/openapi/openapi-30.ts';
import { appRouter, rawOperations } from '../src/routers/index.ts';
import { convertToOpenApi30 } from './convert-openapi.ts';

const document = createOpenApiDocument({ router: appRouter, rawOperations }, 'http://127.0.0.1:3000');
const text = toText(document);
const committed = [
  ['docs/openapi.json', text],
  ['docs/openapi-3.0.json', `${toLines(withoutCodeSamples(convertToOpenApi30(document)), 3)}\n`],
] as const;
const [path] = process.argv.slice(2);
if (path === undefined) process.stdout.write(text);
else if (path === '--all') for (const [name, current] of committed) writeFileSync(toUrl(name), current);
else if (path !== '--check') writeFileSync(path, text);
else {
  for (const [name, current] of committed) {
    if (readFileSync(toUrl(name), 'utf8') === current) continue;
    console.error(`${name} is not current: run \`npm run openapi\``);
    process.exitCode = 1;
  }
}

function toText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Prints `levels` of the value in lines of their own: an operation or a schema is one line. */
function toLines(value: unknown, levels: number): string {
  if (levels === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{\n${entries.map(([key, one]) => `${JSON.stringify(key)}: ${toLines(one, levels - 1)}`).join(',\n')}\n}`;
}

function toUrl(name: string): URL {
  return new URL(`../${name}`, import.meta.url);
}
