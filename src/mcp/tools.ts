/** The tools of a session, and how they are called. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { AppError, badField } from '../core/errors.ts';
import { toScope } from '../core/scopes.ts';
import { withSpan } from '../core/tracing.ts';
import { fromUnexpected } from '../trpc/errors.ts';
import type { Arguments, McpOperation } from './mcp-operation.ts';
import { toDataResult, toErrorResult, toResult } from './results.ts';
import { CALL_TOOL, describeCallTool, SEARCH_TOOL, searchOperations, searchTool } from './search-operations.ts';
import { type McpSession, refusalOf } from './session.ts';

/** The operations by name, and those that are tools of their own by the name of the tool. */
export type Catalogue = {
  operations: ReadonlyMap<string, McpOperation>;
  tools: ReadonlyMap<string, McpOperation>;
};

const KEY_ARGUMENT = 'idempotency_key';
/** How much of the name of an unknown argument an error repeats. */
const MAX_SHOWN_LENGTH = 100;
const KEY = /^[!-~]{1,255}$/;
const keySchema = {
  type: 'string',
  pattern: KEY.source,
  description: 'A new random text without spaces for each change; the same one to repeat a call',
};

/** The tools that the session may call. */
export function listTools({ tools }: Catalogue, session: McpSession): Tool[] {
  const own = [...tools.values()].filter((operation) => refusalOf(session, operation) === null).map(toTool);
  return [...own, searchTool, describeCallTool(session.isReadOnly)];
}

function toTool(operation: McpOperation): Tool {
  const { toolName, title, description, schema, takesIdempotencyKeys, scope } = operation;
  const properties = takesIdempotencyKeys ? { ...schema.properties, [KEY_ARGUMENT]: keySchema } : schema.properties;
  return {
    name: toolName,
    title,
    description: `${title}. ${description} Scope of the key: ${toScope(scope)}.`,
    // `as`: the schemas are JSON schemas of objects. The SDK's type of them is that of arbitrary JSON.
    inputSchema: { ...schema, properties } as Tool['inputSchema'],
    annotations: {
      readOnlyHint: operation.isRead,
      destructiveHint: operation.isDestructive,
      idempotentHint: operation.isIdempotent,
      openWorldHint: operation.reachesOthers,
    },
    _meta: { 'lynxroom/group': operation.group },
  };
}

/** Returns null for an unknown tool. Never rejects: every error is a result that says what to do. */
export async function callNamedTool(
  catalogue: Catalogue,
  session: McpSession,
  name: string,
  given: Arguments,
): Promise<CallToolResult | null> {
  try {
    if (name === SEARCH_TOOL) return toResult(searchOperations(catalogue.operations, session, given));
    if (name === CALL_TOOL) {
      const call = findCall(catalogue, given);
      return await callOperation(session, call.operation, call.given);
    }
    const operation = catalogue.tools.get(name);
    return operation === undefined ? null : await callOperation(session, operation, given);
  } catch (error) {
    const failure = error instanceof AppError ? error : fromUnexpected(error);
    session.logFailure(failure);
    return toErrorResult(failure, session.context.requestId);
  }
}

/** Finds the operation that a call of `call_operation` names, and its arguments. Throws 400. */
function findCall(
  { operations }: Catalogue,
  { operation: name, arguments: given = {}, [KEY_ARGUMENT]: key, ...others }: Arguments,
): { operation: McpOperation; given: Arguments } {
  const operation = typeof name === 'string' ? operations.get(name) : undefined;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw unknownArgument(unknown, ['operation', 'arguments', KEY_ARGUMENT]);
  if (operation === undefined)
    throw badField('operation', `There is no such operation: use a name that ${SEARCH_TOOL} returns`);
  if (!isArguments(given)) throw badField('arguments', 'arguments must be an object');
  return { operation, given: key === undefined ? given : { ...given, [KEY_ARGUMENT]: key } };
}

async function callOperation(session: McpSession, operation: McpOperation, given: Arguments): Promise<CallToolResult> {
  const { [KEY_ARGUMENT]: key, ...input } = given;
  const refusal = refusalOf(session, operation) ?? findMistake(operation, input, key);
  if (refusal !== null) throw refusal;
  // Over HTTP, clients may send the key as a header too.
  const idempotencyKey = typeof key === 'string' ? key : session.context.idempotencyKey;
  let isReplayed = false;
  const setHeader = (name: string, value: string): void => {
    if (name === 'idempotency-replayed') isReplayed = true;
    session.context.setHeader(name, value);
  };
  const called = { ...session, context: { ...session.context, setHeader } };
  const data = await withSpan(operation.name, {}, () => operation.call(called, input, idempotencyKey));
  return toDataResult(data, isReplayed);
}

/** Returns the 400 or 413 for arguments that the operation would ignore, or that are too large; otherwise null. */
function findMistake(operation: McpOperation, input: Arguments, key: unknown): AppError | null {
  const { schema, takesIdempotencyKeys, maxBytes } = operation;
  const known = Object.keys(schema.properties);
  const unknown = Object.keys(input).find((name) => !known.includes(name));
  if (unknown !== undefined) return unknownArgument(unknown, known);
  if (key !== undefined && !takesIdempotencyKeys) return unknownArgument(KEY_ARGUMENT, known);
  if (key !== undefined && (typeof key !== 'string' || !KEY.test(key)))
    return badField(KEY_ARGUMENT, `${KEY_ARGUMENT} must have 1 to 255 visible ASCII characters, without spaces`);
  const tooLarge = Buffer.byteLength(JSON.stringify(input)) > maxBytes;
  return tooLarge ? new AppError('PAYLOAD_TOO_LARGE', `The arguments are larger than ${maxBytes} bytes`) : null;
}

function unknownArgument(name: string, known: readonly string[]): AppError {
  const shown = name.slice(0, MAX_SHOWN_LENGTH);
  const list = known.length === 0 ? 'There are no arguments' : `Arguments: ${known.join(', ')}`;
  return badField(shown, `There is no argument ${shown}. ${list}`);
}

function isArguments(value: unknown): value is Arguments {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
