/**
 * SQL conditions that select the rows about a person, with the parameters of `personParams`. `$email` is the normalized
 * address. `$participantId` is a single visit, for a person without an address. Either may be null.
 */
import { int, nullable, text } from '../../db/statements.ts';

export const personParams = { workspaceId: int, email: nullable(text), participantId: nullable(int) };

/** The parameters of statements that select by address only. */
export const addressParams = { workspaceId: int, email: nullable(text) };

export type Person = { workspaceId: number; email: string | null; participantId: number | null };

/** Normalizes the column, because guests and providers send addresses in any form and visits store them unchanged. */
export function isAddress(column: string): string {
  return `lower(btrim(${column})) = $email`;
}

/** Whether the participant `p` is the person. */
export function isVisit(p: string): string {
  return `(${isAddress(`${p}.email`)} or ${p}.id = $participantId)`;
}

/**
 * Whether the event `t`, with its `type`, `data` and time `at`, names the person. The `room.created` event of a booked
 * meeting is found by its time, which equals the `created_at` of the booking. The room, which links the event to the
 * booking, may have been deleted.
 */
export function isInEvent(): string {
  const data = 't.data';
  const idIn = (field: string): string => `(${data}->>'${field}')::int`;
  return `(
    exists (select from participants p
      where p.workspace_id = $workspaceId and p.id = ${idIn('participant_id')} and ${isVisit('p')})
    or exists (select from contacts c
      where c.workspace_id = $workspaceId and c.id = ${idIn('contact_id')} and c.email = $email)
    or exists (select from bookings b
      where b.workspace_id = $workspaceId and b.id = ${idIn('booking_id')} and b.email = $email)
    or (t.type = 'room.created' and t.at in (
      select b.created_at from bookings b where b.workspace_id = $workspaceId and b.email = $email)))`;
}

/** Whether the event `f` in a stored callback of the connection is about the person. */
export function isInFact(f: string, connectionId: string): string {
  return `(${isAddress(`${f}->>'email'`)} or ${isReference(
    `${f}->>'participantReference'`,
    `coalesce(${f}->'room'->>'name', ${f}->'room'->>'sessionId')`,
    connectionId,
  )})`;
}

/** Whether a provider uses this reference for the person. */
export function isReference(reference: string, meeting: string, connectionId: string): string {
  return `exists (select from participant_connections c
    join participants p on p.workspace_id = c.workspace_id and p.id = c.participant_id
    where c.workspace_id = $workspaceId and c.connection_id = ${connectionId} and c.meeting = ${meeting}
      and c.reference = ${reference} and ${isVisit('p')})`;
}
