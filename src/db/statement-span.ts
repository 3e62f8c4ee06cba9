import { type StartedSpan, startChildSpan } from '../core/tracing.ts';

/** Matches the names of our statements. Prisma's statements have hashes as names. */
const OWN_NAME = /^[a-z]+(?:-[a-z]+)+$/;

/**
 * Starts the span of a statement that belongs to a trace. Otherwise returns null, so that each poll of the background
 * work does not become a trace. The SQL contains no values, because statements have parameters.
 */
export function startStatementSpan(text: string, name: string | undefined): StartedSpan | null {
  const [operation = ''] = /^\s*\w+/.exec(text) ?? [];
  const isOwn = name !== undefined && OWN_NAME.test(name);
  return startChildSpan(isOwn ? name : operation.trim().toUpperCase(), {
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'db.query.text': text },
  });
}
