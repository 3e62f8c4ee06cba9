/** The operations that are available through MCP: those that an API key may call, and those of a guest who books. */
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { requiredScopeOf } from '../core/scopes.ts';
import { inputsOf, listProcedures, proceduresOf } from '../trpc/call-procedure.ts';
import { listOperations, type Operation } from '../trpc/operations.ts';
import { rawInputOf } from '../trpc/raw-input.ts';
import { type RawOperation, requiredScopeOfRaw } from '../trpc/raw-operation.ts';
import { groupOf, isDestructive, isTool, reachesOthers, toToolName } from './groups.ts';
import { createToolSchema, type ToolSchema } from './input-schema.ts';
import type { Described, McpOperation } from './mcp-operation.ts';
import { countRequest } from './session.ts';
import { createUploadOperation } from './upload-file.ts';

/** All operations by name. The schemas are made when they are first needed. */
export function listMcpOperations(
  router: AnyTRPCRouter,
  rawOperations: readonly RawOperation[],
): ReadonlyMap<string, McpOperation> {
  const definitions = new Map(proceduresOf(router));
  const procedures = listProcedures(router);
  const found = listOperations(router).flatMap((operation): McpOperation[] => {
    const definition = definitions.get(operation.name);
    const procedure = procedures.get(operation.name);
    if (definition === undefined || procedure === undefined || !isAvailable(operation)) return [];
    const workspaceField = workspaceFieldOf(operation);
    const isPublic = operation.credential !== 'required';
    return [
      {
        ...describe(operation, procedure.isQuery),
        takesIdempotencyKeys: operation.takesIdempotencyKeys,
        maxBytes: operation.maxBodyBytes,
        get schema() {
          return schemaOf(definition, workspaceField);
        },
        async call(session, given, idempotencyKey) {
          // All other procedures count the call against the limit of the key themselves.
          if (isPublic) await countRequest(session);
          session.count.isDone = true;
          const { workspaceId } = session.credential;
          const input = workspaceField === null ? { ...given } : { ...given, [workspaceField]: workspaceId };
          return procedure.call({ ...session.context, idempotencyKey }, rawInputOf(input));
        },
      },
    ];
  });
  const upload = rawOperations.find(({ name }) => name === 'library.upload');
  if (upload) {
    const described = { ...upload, minRole: upload.access.minRole ?? null, requiredScope: requiredScopeOfRaw(upload) };
    found.push(createUploadOperation(upload, describe(described, false)));
  }
  return new Map(found.map((operation) => [operation.name, operation]));
}

type Declared = Pick<Operation, 'name' | 'method' | 'summary' | 'description' | 'minRole' | 'requiredScope'>;

function describe(
  { name, method, summary, description, minRole, requiredScope }: Declared,
  isRead: boolean,
): Described {
  return {
    name,
    toolName: toToolName(name),
    isTool: isTool(name),
    group: groupOf(name),
    title: summary,
    description,
    isRead,
    isDestructive: !isRead && isDestructive(name),
    isIdempotent: isRead || method === 'PATCH' || method === 'PUT' || method === 'DELETE',
    reachesOthers: !isRead && reachesOthers(name),
    minRole,
    scope: requiredScope ?? requiredScopeOf(name, { isRead, minRole: undefined }),
  };
}

/** Guests book without a credential. All other operations for anyone are for people: they sign in, join or register. */
function isAvailable({ name, credential, requiredScope, deprecated }: Operation): boolean {
  if (deprecated !== null) return false;
  return credential === 'required' ? requiredScope !== null : name.startsWith('bookings.');
}

const workspaceFields: readonly string[] = ['workspace_id', 'workspaceId'];

/** The field that names the workspace. A key works in one workspace, so the server fills it in. */
function workspaceFieldOf({ path, fields }: Operation): string | null {
  if (path.startsWith('/api/workspaces/{id}')) return 'id';
  return workspaceFields.find((name) => fields.has(name)) ?? null;
}

const schemas = new WeakMap<AnyTRPCProcedure, ToolSchema>();

function schemaOf(definition: AnyTRPCProcedure, workspaceField: string | null): ToolSchema {
  const known = schemas.get(definition);
  if (known) return known;
  const omitted = workspaceField === null ? workspaceFields : [workspaceField, ...workspaceFields];
  const schema = createToolSchema(inputsOf(definition), omitted);
  schemas.set(definition, schema);
  return schema;
}
