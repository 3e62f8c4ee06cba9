/** The tools that find and call the operations that are no tools of their own. */
import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { toScope } from '../core/scopes.ts';
import { parseInput } from '../core/validation.ts';
import type { Arguments, McpOperation } from './mcp-operation.ts';
import { type McpSession, refusalOf } from './session.ts';

export const SEARCH_TOOL = 'search_operations';
export const CALL_TOOL = 'call_operation';

const MAX_RESULTS = 10;
const MAX_QUERY_LENGTH = 200;

const SearchInput = z.strictObject({
  query: z.string().trim().min(1).max(MAX_QUERY_LENGTH),
  limit: z.int().min(1).max(MAX_RESULTS).default(5),
});

export const searchTool: Tool = {
  name: SEARCH_TOOL,
  title: 'Search the operations of the API',
  description:
    `Finds operations that are not tools of their own, with their arguments. Call them with ${CALL_TOOL}. Without a ` +
    'match, returns the names of all available operations.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', maxLength: MAX_QUERY_LENGTH, description: 'Words such as `retention policy`' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: MAX_RESULTS,
        default: 5,
        description: 'Maximum number of results',
      },
    },
    required: ['query'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

export function describeCallTool(isReadOnly: boolean): Tool {
  return {
    name: CALL_TOOL,
    title: 'Call an operation of the API',
    description:
      `Calls an operation that ${SEARCH_TOOL} returned, with the arguments that its schema describes. Look at its ` +
      '`destructive` before you call it.',
    inputSchema: {
      type: 'object',
      properties: {
        operation: { type: 'string', description: 'The name, such as `retention.preview`' },
        arguments: { type: 'object', description: 'The arguments of the operation' },
        idempotency_key: {
          type: 'string',
          maxLength: 255,
          description: 'For a write: a new random text without spaces for each change',
        },
      },
      required: ['operation'],
      additionalProperties: false,
    },
    annotations: {
      readOnlyHint: isReadOnly,
      destructiveHint: !isReadOnly,
      idempotentHint: isReadOnly,
      openWorldHint: !isReadOnly,
    },
  };
}

/** Searches the operations that the session may call. Throws 400. */
export function searchOperations(
  operations: ReadonlyMap<string, McpOperation>,
  session: McpSession,
  given: Arguments,
): Record<string, unknown> {
  const { query, limit } = parseInput(SearchInput, given);
  const available = [...operations.values()].filter((operation) => refusalOf(session, operation) === null);
  const words = toWords(query);
  const ranked = available
    .map((operation) => ({ operation, score: scoreOf(operation, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score);
  if (ranked.length === 0) return { operations: [], available: available.map(({ name }) => name) };
  return { operations: ranked.slice(0, limit).map(({ operation }) => describeOperation(operation)) };
}

function describeOperation(operation: McpOperation): Record<string, unknown> {
  const { name, toolName, isTool, title, description, isRead, isDestructive, scope, schema } = operation;
  return {
    operation: name,
    ...(isTool && { tool: toolName }),
    title,
    description,
    read_only: isRead,
    destructive: isDestructive,
    scope: toScope(scope),
    takes_idempotency_key: operation.takesIdempotencyKeys,
    arguments: schema,
  };
}

/** The more words match, and the more prominent the text is, the higher. */
function scoreOf({ name, title, description }: McpOperation, words: readonly string[]): number {
  const texts = [toWords(name), toWords(title), toWords(description)];
  const weights = [3, 2, 1];
  const scores = words.map((word) =>
    texts.reduce((sum, text, index) => sum + (text.some((one) => one.startsWith(word)) ? (weights[index] ?? 0) : 0), 0),
  );
  return scores.reduce((sum, score) => sum + score, 0);
}

/** Splits at the capitals of names too. A plural counts as its singular. */
function toWords(text: string): string[] {
  return text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => (word.length > 3 ? word.replace(/s$/, '') : word))
    .filter((word) => word !== '');
}
