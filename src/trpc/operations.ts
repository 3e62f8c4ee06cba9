/** Describes the procedures of a router for the REST transport, the OpenAPI document and the tests. */
import type { AnyTRPCRouter } from '@trpc/server';
import { z } from 'zod';
import type { Role } from '../core/roles.ts';
import { type RequiredScope, requiredScopeOf } from '../core/scopes.ts';
import { bodyLimitsOf } from './body-limits.ts';
import { inputsOf, proceduresOf } from './call-procedure.ts';
import type { Meta } from './context.ts';
import type { Deprecation } from './deprecation.ts';

const valueTypes = ['integer', 'number', 'boolean', 'string'] as const;
export type ValueType = (typeof valueTypes)[number];

/** One operation with a REST path. */
export type Operation = {
  /** The path of the procedure in the router, such as `labels.create`. */
  name: string;
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** In the format of OpenAPI, such as `/api/workspaces/{id}`. */
  path: string;
  summary: string;
  description: string;
  /** The role that the caller must have in the workspace of the input. Null if the operation checks none. */
  minRole: Role | null;
  /** Whether a credential is required, optional, recognized if it is a valid session, or ignored. */
  credential: 'required' | 'optional' | 'recognized' | 'none';
  /** Whether no API key may call it, whatever its scopes. */
  needsSession: boolean;
  /** The scope that an API key with scopes needs. Null if keys may not call it, or it ignores them. */
  requiredScope: RequiredScope | null;
  takesBody: boolean;
  /** The maximum size of the body in bytes. */
  maxBodyBytes: number;
  /** The name of the body in the OpenAPI document. Null if no input schema has one. */
  bodyName: string | null;
  /** Whether the header Idempotency-Key has an effect, and whether callers without a credential need a secret too. */
  takesIdempotencyKeys: boolean;
  takesIdempotencySecrets: boolean;
  /** The HTTP status of a successful call. */
  status: number;
  /** The field of the output with the URL to which REST redirects callers that do not ask for JSON, or null. */
  redirectsTo: string | null;
  /** Whether responses must not be stored, and therefore have no `ETag`. */
  noStore: boolean;
  /** Error statuses for the OpenAPI document, besides those that all operations of the same kind have. */
  refusals: readonly number[];
  /** Set if the operation will be removed. */
  deprecated: Deprecation | null;
  /** The type of every input field. Path and query parameters are converted to it. */
  fields: ReadonlyMap<string, ValueType>;
};

/** All procedures of `router` that have a REST path. */
export function listOperations(router: AnyTRPCRouter): Operation[] {
  return proceduresOf(router).flatMap(([name, procedure]) => {
    // tRPC does not preserve the type of our metadata in this record.
    const meta = (procedure.meta ?? {}) as Meta;
    const { openapi, successStatus, credential = 'none', redirectsTo = null, refusals = [], deprecated = null } = meta;
    if (!openapi) return [];
    const { method, path, protect = true, summary = '', description = '' } = openapi;
    const { minRole, needsSession = false, scopeLevel } = meta;
    const takesKeys = (protect || credential === 'optional') && !needsSession;
    const inputs = inputsOf(procedure);
    return [
      {
        name,
        method,
        path,
        summary,
        description,
        minRole: minRole ?? null,
        credential: protect ? 'required' : credential,
        needsSession,
        requiredScope: takesKeys
          ? requiredScopeOf(name, { isRead: procedure._def.type === 'query', minRole, scopeLevel })
          : null,
        maxBodyBytes: bodyLimitsOf(meta).maxBytes,
        takesBody: method !== 'GET' && method !== 'DELETE',
        bodyName: inputs.map((input) => input.meta()?.id).findLast((id) => id !== undefined) ?? null,
        takesIdempotencyKeys: method !== 'GET' && meta.idempotencyKey !== 'ignored',
        takesIdempotencySecrets: method !== 'GET' && !protect && meta.idempotencyKey === undefined,
        status: successStatus ?? 200,
        redirectsTo,
        noStore: meta.noStore === true,
        refusals,
        deprecated,
        fields: readFields(inputs),
      },
    ];
  });
}

/** The type of every field of the input schemas. */
export function readFields(inputs: readonly z.ZodType[]): Map<string, ValueType> {
  const fields = new Map<string, ValueType>();
  for (const input of inputs) {
    const { $ref, $defs = {}, ...schema } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
    // For a named schema, zod writes a `$ref`, even at the top level.
    const { properties = {} } = $ref === undefined ? schema : ($defs[$ref.replace('#/$defs/', '')] ?? {});
    for (const [name, schema] of Object.entries(properties)) {
      const type = typeof schema === 'object' ? schema.type : undefined;
      fields.set(name, valueTypes.find((known) => known === type) ?? 'string');
    }
  }
  return fields;
}
