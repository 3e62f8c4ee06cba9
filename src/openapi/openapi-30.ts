/**
 * The document as OpenAPI 3.0, for generators and gateways that read no 3.1. `npm run openapi` converts it and writes
 * docs/openapi-3.0.json, so that the service needs no converter. Its URL and code samples are those of the service.
 */
import { readFile } from 'node:fs/promises';
import type { OpenAPIObject } from 'trpc-to-openapi';

const SAMPLES = 'x-codeSamples';

type Entry = Record<string, unknown>;
type Paths = Record<string, Record<string, Entry>>;

/** Reads the converted document, and adds the servers and the code samples of `document`, the one for 3.1. */
export async function readOpenApi30({ servers, paths }: OpenAPIObject): Promise<object> {
  const converted = JSON.parse(await readFile(new URL('../../docs/openapi-3.0.json', import.meta.url), 'utf8'));
  // `as`: the entries of the document are plain JSON here, as in `createOpenApiDocument`.
  const samplesOf = (path: string, method: string) => (paths as Paths)[path]?.[method]?.[SAMPLES];
  const withSamples = mapEntries(converted.paths, (entry, path, method) => ({
    ...entry,
    [SAMPLES]: samplesOf(path, method),
  }));
  return { ...converted, servers, paths: withSamples };
}

/** Returns the converted document without the code samples, which name the URL of a service. */
export function withoutCodeSamples(document: Record<string, unknown>): object {
  return { ...document, paths: mapEntries(document.paths as Paths, ({ [SAMPLES]: _, ...entry }) => entry) };
}

function mapEntries(paths: Paths, change: (entry: Entry, path: string, method: string) => Entry): Paths {
  const changeAll = (methods: Record<string, Entry>, path: string) =>
    Object.fromEntries(Object.entries(methods).map(([method, entry]) => [method, change(entry, path, method)]));
  return Object.fromEntries(Object.entries(paths).map(([path, methods]) => [path, changeAll(methods, path)]));
}
