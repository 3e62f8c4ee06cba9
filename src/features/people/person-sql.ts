/**
 * Which rows of a workspace are about a person: SQL with the parameters of `personParams`. `$email` is the normalized
 * address; `$participantId` is one visit, for a person without an address. Each of them may be null.
 */
import { int, nullable, text } from '../../db/statements.ts';

export const personParams = { workspaceId: int, email: nullable(text), participantId: nullable(int) };

/** For statements that find nothing about a person without an address. */
export const addressParams = { workspaceId: int, email: nullable(text) };

export type Person = { workspaceId: number; email: string | null; participantId: number | null };

/** Normalizes the column first: guests and providers send addresses in any form, and visits store them unchanged. */
export function isAddress(column: string): string {
  return `lower(btrim(${column})) = $email`;
}

/** Whether the participant `p` is the person. */
export function isVisit(p: string): string {
  return `(${isAddress(`${p}.email`)} or ${p}.id = $participantId)`;
}

/**
 * Whether the event `t`, with its `type`, `data` and time `at`, names the person. The event of the room of a meeting is
 * found by the time of the booking, because the room may have been deleted.
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

/** Whether a provider's event `f`, in the facts of a callback of the connection, is about the person. */
export function isInFact(f: string, connectionId: string): string {
  return `(${isAddress(`${f}->>'email'`)} or ${isReference(
    `${f}->>'participantReference'`,
    `coalesce(${f}->'room'->>'name', ${f}->'room'->>'sessionId')`,
    connectionId,
  )})`;
}

/** Whether a provider calls the person by this reference. */
export function isReference(reference: string, meeting: string, connectionId: string): string {
  return `exists (select from participants p
    where p.workspace_id = $workspaceId and p.connection_id = ${connectionId} and p.meeting = ${meeting}
      and p.participant_reference = ${reference} and ${isVisit('p')})`;
}
