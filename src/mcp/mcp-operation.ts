/** An operation as MCP sees it. */
import type { Role } from '../core/roles.ts';
import type { RequiredScope } from '../core/scopes.ts';
import type { Group } from './groups.ts';
import type { ToolSchema } from './input-schema.ts';
import type { McpSession } from './session.ts';

export type Arguments = Readonly<Record<string, unknown>>;

export type McpOperation = {
  /** The name of the operation, such as `library.assignLabel`, and of its tool, which not every operation has. */
  name: string;
  toolName: string;
  isTool: boolean;
  group: Group | null;
  title: string;
  description: string;
  isRead: boolean;
  isDestructive: boolean;
  isIdempotent: boolean;
  reachesOthers: boolean;
  minRole: Role | null;
  /**
   * The scope that a key with scopes needs. An operation for anyone needs it too: nobody expects that a key for reading
   * books meetings.
   */
  scope: RequiredScope;
  takesIdempotencyKeys: boolean;
  /** How long the JSON of the arguments may be. */
  maxBytes: number;
  schema: ToolSchema;
  /** Calls the operation. Rejects with an error from the catalogue. */
  call(session: McpSession, given: Arguments, idempotencyKey: string | null): Promise<unknown>;
};

/** The fields that follow from the declaration of an operation. */
export type Described = Omit<McpOperation, 'takesIdempotencyKeys' | 'maxBytes' | 'schema' | 'call'>;

/** Throws for a name that no operation has, which is a mistake in this folder. */
export function requireOperation(operations: ReadonlyMap<string, McpOperation>, name: string): McpOperation {
  const operation = operations.get(name);
  if (operation === undefined) throw new Error(`There is no operation ${name}`);
  return operation;
}
