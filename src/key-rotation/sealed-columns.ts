/** All columns with sealed values, so that the values can be counted by key and sealed again with a newer key. */
import type { SealContext, SealPurpose } from '../core/sealing.ts';

export type SealedColumn = {
  table: string;
  column: string;
  /** The SQL expression for the `owner` of the context. Without it, the context is the workspace of the row. */
  owner?: string;
};

/**
 * The columns of each purpose, except the column with the events of callbacks. Those events contain sealed links within
 * JSON (`pending-callbacks.ts`).
 */
export const sealedColumns: Readonly<Record<SealPurpose, readonly SealedColumn[]>> = {
  'webhook secret': [
    { table: 'webhooks', column: 'sealed_secret' },
    { table: 'webhooks', column: 'previous_sealed_secret' },
  ],
  'meeting credentials': [
    { table: 'meeting_connections', column: 'sealed_credentials' },
    { table: 'livekit_rooms', column: 'sealed_credentials' },
  ],
  'recording link': [{ table: 'recording_copies', column: 'sealed_url' }],
  'participant token': [{ table: 'participants', column: 'sealed_token' }],
  'booking token': [{ table: 'bookings', column: 'sealed_token', owner: "'booking:' || encode(token_hash, 'hex')" }],
  'invite link': [{ table: 'workspaces', column: 'sealed_invite', owner: "'workspace:' || id" }],
  'stored answer': [{ table: 'idempotency_keys', column: 'answer', owner: "caller || ' ' || key" }],
  mail: [{ table: 'mail_messages', column: 'data', owner: "'mail:' || message_id" }],
  'second factor': [{ table: 'second_factors', column: 'sealed_secret', owner: "'user:' || user_id" }],
  'audit chain': [{ table: 'audit_chains', column: 'sealed' }],
};

/** All columns, with their purpose. */
export function listSealedColumns(): (SealedColumn & { purpose: SealPurpose })[] {
  // `as`: `Object.entries` returns the keys as plain strings.
  const entries = Object.entries(sealedColumns) as [SealPurpose, readonly SealedColumn[]][];
  return entries.flatMap(([purpose, columns]) => columns.map((column) => ({ ...column, purpose })));
}

/** Returns the context of a row. `value` is the result of the expression from `ownerOf`. */
export function toSealContext({ owner }: SealedColumn, purpose: SealPurpose, value: string): SealContext {
  return owner === undefined ? { workspaceId: Number(value), purpose } : { owner: value, purpose };
}

/** Returns the SQL expression for the `value` of `toSealContext`. */
export function ownerOf({ owner = 'workspace_id' }: SealedColumn): string {
  return `(${owner})::text`;
}
