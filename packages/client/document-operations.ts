/** Adds the texts of the OpenAPI document to the declarations of the operations, where editors show them. */
import { readFileSync } from 'node:fs';

/** The parts of an operation in the OpenAPI document that are shown. */
type Operation = { operationId: string; summary: string; description?: string; responses: Record<string, object> };

/** Statuses that any request can be answered with. */
const COMMON = [408, 413, 415, 431, 500, 503];

const ROUTER = /^ {4}(\w+): Trpc\.TRPCBuiltRouter</;
const PROCEDURE = /^ {8}(\w+): Trpc\.TRPC(?:Query|Mutation|Subscription)Procedure</;

/**
 * Returns the printed type of the router with a comment before each procedure: its summary, its description, the
 * statuses of its errors, and its REST path. Throws if the document does not have a procedure.
 */
export function documentOperations(router: string, document: URL): string {
  const comments = readComments(document);
  let namespace = '';
  const lines = router.split('\n').flatMap((line) => {
    namespace = ROUTER.exec(line)?.[1] ?? namespace;
    const name = PROCEDURE.exec(line)?.[1];
    if (name === undefined) return [line];
    // The document names its operations like this: `labelsCreate`. A subscription is a stream in REST.
    const inDocument = name === 'live' ? 'stream' : name;
    const id = `${namespace}${inDocument.charAt(0).toUpperCase()}${inDocument.slice(1)}`;
    const comment = comments.get(id);
    if (comment === undefined) throw new Error(`The OpenAPI document has no operation ${id}`);
    return [...toComment(comment), line];
  });
  return lines.join('\n');
}

function readComments(document: URL): Map<string, string> {
  // `as`: docs/openapi.json is compared with the code, and checked against the schema of OpenAPI, by the tests.
  const { paths } = JSON.parse(readFileSync(document, 'utf8')) as { paths: Record<string, Record<string, Operation>> };
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.operationId !== undefined)
      .map(([method, operation]) => [operation.operationId, describe(method, path, operation)] as const),
  );
  return new Map(entries);
}

function describe(method: string, path: string, { summary, description, responses }: Operation): string {
  const statuses = Object.keys(responses).filter((status) => Number(status) >= 400 && !COMMON.includes(Number(status)));
  return [
    `${summary}.`,
    ...(description === undefined ? [] : [description]),
    `Errors: ${statuses.join(', ')}. REST: \`${method.toUpperCase()} ${path}\``,
  ].join('\n\n');
}

/** The lines of a comment. Nothing in the text can end it. */
function toComment(text: string): string[] {
  const lines = text.replaceAll('*/', '*\\/').split('\n');
  return ['        /**', ...lines.map((line) => `         * ${line}`.trimEnd()), '         */'];
}
