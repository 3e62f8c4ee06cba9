/** What the descriptions of operations say about API keys. */
import { type RequiredScope, toScope } from '../core/scopes.ts';

type KeyAccess = { needsSession: boolean; requiredScope: RequiredScope | null };

/**
 * Adds a sentence to the description of an operation: either the scope that an API key needs, or that API keys are not
 * accepted.
 */
export function withKeyAccess(description: string | undefined, { needsSession, requiredScope }: KeyAccess): string {
  const text = description ?? '';
  if (needsSession) return `${text}\n\nAPI keys are not accepted, whatever their scopes.`.trim();
  return requiredScope === null
    ? text
    : `${text}\n\nScope of an API key: \`${requiredScope.level}\` or \`${toScope(requiredScope)}\`.`.trim();
}
