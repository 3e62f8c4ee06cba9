/** The filters that the list and the exports share. */
import { fromUnixSeconds } from '../../core/time.ts';
import { LAST_SECOND } from '../../core/validation.ts';
import { int, nullable, text, time } from '../../db/statements.ts';
import type { AuditFilters } from './schemas.ts';

export const filterParams = {
  actorKind: nullable(text),
  actorUserId: nullable(int),
  actorKeyId: nullable(int),
  action: nullable(text),
  targetKind: nullable(text),
  targetId: nullable(int),
  from: time,
  to: time,
} as const;

/** SQL condition on rows of `audit_log a`, with the parameters `filterParams`. */
export const matchesFilters = `
  a.created_at >= $from and a.created_at < $to
  and ($actorKind is null or a.actor_kind = $actorKind) and ($actorUserId is null or a.actor_user_id = $actorUserId)
  and ($actorKeyId is null or a.actor_key_id = $actorKeyId) and ($action is null or a.action = $action)
  and ($targetKind is null or a.target_kind = $targetKind) and ($targetId is null or a.target_id = $targetId)`;

export function toFilterParams(filters: AuditFilters) {
  return {
    actorKind: filters.actor_kind ?? null,
    actorUserId: filters.actor_user_id ?? null,
    actorKeyId: filters.actor_key_id ?? null,
    action: filters.action ?? null,
    targetKind: filters.target_kind ?? null,
    targetId: filters.target_id ?? null,
    from: fromUnixSeconds(filters.from ?? 0),
    to: fromUnixSeconds(filters.to ?? LAST_SECOND),
  };
}
