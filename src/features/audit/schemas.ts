import { z } from 'zod';
import { auditActions, auditActorKinds } from '../../audit/actions.ts';
import { chainProblems } from '../../audit/check-entries.ts';
import { bom } from '../../core/byte-order-mark.ts';
import { type Cursor, decodeCursor } from '../../core/cursor.ts';
import { cursor, nextCursor } from '../../core/list-page.ts';
import { count, flag, id, integerBetween, integerFrom, LAST_SECOND, unixSeconds } from '../../core/validation.ts';

const actions = Object.values(auditActions).flat();
const targetKinds = z.enum(Object.keys(auditActions) as (keyof typeof auditActions)[]);
const seconds = integerBetween(0, LAST_SECOND);
const sequence = integerFrom(0).describe('Position in the log of the workspace. The numbering has no gaps');
const hash = z.string().describe('SHA-256 in lower-case hex');

export const AuditFilters = z.object({
  actor_kind: z.enum(auditActorKinds).describe('Only entries with an actor of this kind').optional(),
  actor_user_id: id.describe('Only entries whose actor is this user, or an API key that acts for them').optional(),
  actor_key_id: id.describe('Only entries whose actor is this API key').optional(),
  action: z.enum(actions).describe('Only entries with this action').optional(),
  target_kind: targetKinds.describe('Only entries about targets of this kind').optional(),
  target_id: id.describe('Only entries about the target with this ID; combine with `target_kind`').optional(),
  from: seconds.describe('Only entries at this time or later, as a Unix timestamp in seconds').optional(),
  to: seconds.describe('Only entries before this time, as a Unix timestamp in seconds').optional(),
});
export type AuditFilters = z.infer<typeof AuditFilters>;

export const AuditCsvQuery = AuditFilters.extend({ bom });
export type AuditCsvQuery = z.infer<typeof AuditCsvQuery>;

export const ListAuditInput = AuditFilters.extend({
  limit: integerBetween(1, 100).default(50).describe('Maximum number of entries'),
  offset: integerBetween(0, 2_147_483_647).default(0).describe('Number of entries to skip'),
  cursor,
});
export type ListAuditInput = z.infer<typeof ListAuditInput>;

const fields = z.record(z.string(), z.unknown());

export const AuditEntry = z
  .object({
    id: integerFrom(1),
    sequence: sequence
      .nullable()
      .describe('Position in the log, assigned about a second later; null until then. The numbering has no gaps'),
    created_at: unixSeconds,
    actor: z
      .object({
        kind: z.enum(auditActorKinds),
        user_id: id.nullable().describe('The user, or the user for whom the API key acts'),
        key_id: id.nullable().describe('The API key'),
        participant_id: id.nullable().describe('The participant who was a host of the room by a pass'),
        name: z
          .string()
          .nullable()
          .describe('The name at that time; null for the service and for participants, or if it was erased'),
        address: z.string().nullable().describe('The network address; null if there is none, or if it was erased'),
        via: z
          .enum(['mcp'])
          .nullable()
          .describe('`mcp` if an agent made the change through `/mcp`; null for all others, or if it was erased'),
      })
      .describe('Who acted'),
    action: z.enum(actions),
    target: z
      .object({
        kind: targetKinds,
        id: id.nullable().describe('Null if the target has no ID, or if there are several targets'),
        name: z.string().nullable(),
      })
      .describe('What the action changed'),
    before: fields.nullable().describe('Fields before the change'),
    after: fields.nullable().describe('Fields after the change'),
    is_erased: flag.describe('1 if personal fields of the entry were erased'),
    hash: hash
      .nullable()
      .describe('Hash over the entry and the hash of the previous entry; null until `sequence` is assigned'),
  })
  .meta({ id: 'AuditEntry', description: 'An entry of the audit log of a workspace' });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditPage = z
  .object({ entries: z.array(AuditEntry), next_cursor: nextCursor })
  .meta({ id: 'AuditLogPage' });

const position = z
  .string()
  .transform((sent, context): Cursor => {
    const decoded = decodeCursor(sent);
    if (decoded !== null) return decoded;
    context.addIssue({ code: 'custom', message: 'after must be the position of an earlier verification' });
    return z.NEVER;
  })
  .describe('The `position` of an earlier verification, to continue after it; default: the beginning of the log');

export const VerifyAuditInput = z.object({ after: position.optional() });
export type VerifyAuditInput = z.infer<typeof VerifyAuditInput>;

export const AuditVerification = z
  .object({
    is_valid: flag.describe('1 if no problems were found in the checked entries'),
    is_complete: flag.describe('1 if the check reached the end of the log; 0: call again with `position`'),
    first_sequence: sequence.describe('The first entry that was checked'),
    checked_sequence: sequence.describe('The last entry that was checked'),
    last_sequence: sequence.describe('The last entry of the log'),
    pruned_sequence: sequence.describe('The last entry that was pruned because of its age; 0 if no entry was pruned'),
    problems: z
      .array(
        z
          .object({
            sequence: sequence.describe('The entry, or the first missing entry'),
            problem: z.enum(chainProblems),
          })
          .meta({ id: 'AuditLogProblem' }),
      )
      .describe('The problems found, at most 100'),
    position: z
      .string()
      .describe(
        'Identifies the last checked entry by its sequence and hash. Send it as `after` to continue from there, now ' +
          'or later. The check then also detects whether the log was rewritten or shortened in the meantime',
      ),
  })
  .meta({ id: 'AuditLogVerification' });
export type AuditVerification = z.infer<typeof AuditVerification>;

export const EraseAuditInput = z
  .object({ user_id: id.describe('The user whose name and addresses are erased; they may have left the workspace') })
  .meta({ id: 'EraseAuditLogRequest' });
export type EraseAuditInput = z.infer<typeof EraseAuditInput>;

export const ErasedAudit = z
  .object({ erased: count.describe('The number of entries from which fields were erased') })
  .meta({ id: 'ErasedAuditLog' });
export type ErasedAudit = z.infer<typeof ErasedAudit>;
