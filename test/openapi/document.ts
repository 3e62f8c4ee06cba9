/** Reads the OpenAPI document as plain JSON. */

export type Json = {
  [key: string]: unknown;
  properties?: Record<string, Json>;
};

export type Holder = {
  $ref?: string;
  description?: string;
  headers?: Record<string, Json>;
  content?: Record<string, { schema: Json; example?: unknown; examples?: Record<string, Json> }>;
};

export type OperationEntry = {
  /** Such as `GET /api/workspaces`. */
  name: string;
  operationId: string;
  requestBody?: Holder;
  responses: Record<string, Holder>;
  [key: string]: unknown;
};

/** The operations of a document, and the webhooks that it describes. */
export function listOperations(document: unknown): OperationEntry[] {
  const { paths, webhooks } = document as Record<string, Record<string, Record<string, Omit<OperationEntry, 'name'>>>>;
  return [paths, webhooks].flatMap((entries = {}) =>
    Object.entries(entries).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, entry]) => ({ ...entry, name: `${method.toUpperCase()} ${path}` }) as OperationEntry,
      ),
    ),
  );
}

/** The named schemas of a document. */
export function listSchemas(document: unknown): Record<string, Json> {
  const { components } = document as { components: { schemas: Record<string, Json> } };
  return components.schemas;
}

/** Every object in a document, except in examples. */
export function* nodesOf(value: unknown, path = '#'): Generator<{ node: Json; path: string }> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield { node: value as Json, path };
  for (const [key, child] of Object.entries(value))
    if (key !== 'example' && key !== 'examples') yield* nodesOf(child, `${path}/${key}`);
}
