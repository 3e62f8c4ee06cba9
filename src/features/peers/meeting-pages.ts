/**
 * The pages that take part in a meeting. A page has a row while its stream is open and shortly after it, so that a lost
 * stream can be reopened without anybody noticing.
 */
import { SECOND_MS } from '../../core/time.ts';
import { onlyRow } from '../../db/only-row.ts';
import { bool, int, json, type Sql, statement, text, time } from '../../db/statements.ts';

/** A page of a participant, by the ID that it has chosen. */
export type PageKey = { workspaceId: number; participantId: number; connectionId: string };

/**
 * How long a page without news of its process is a connection. Its process refreshes it after a quarter of this time:
 * the pages of a process that was killed go soon, and a pause of some seconds interrupts no meeting.
 */
export const PAGE_LIFETIME_MS = 10 * SECOND_MS;
/** How long a page whose stream was closed is still a connection. */
export const REOPEN_MS = 10 * SECOND_MS;

const pageParams = { workspaceId: int, participantId: int, connectionId: text };

const open = statement('open-meeting-page', {
  params: { ...pageParams, now: time, expiresAt: time, seats: int },
  returns: { isOpen: bool },
  writes: true,
  sql: `
    select open_meeting_page($workspaceId, $participantId, $connectionId, $now, $expiresAt, $seats) as "isOpen"`,
});

// Locks skip what another process is changing, so that no two refreshes wait for each other: the next one finds it. A
// closed page that is skipped expires no later than an open one whose process has died.
const refresh = statement('refresh-meeting-pages', {
  plansAnew: true,
  params: {
    open: json<PageKey[]>(),
    closed: json<PageKey[]>(),
    now: time,
    soon: time,
    expiresAt: time,
    closesAt: time,
    oldest: time,
  },
  sql: `
    with refreshed as (
      select g.workspace_id, g.participant_id, g.connection_id
      from jsonb_to_recordset($open) as o ("workspaceId" int, "participantId" int, "connectionId" text)
      join meeting_pages g on g.workspace_id = o."workspaceId" and g.participant_id = o."participantId"
        and g.connection_id = o."connectionId" and g.expires_at < $soon and g.replaced_at is null
      for no key update of g skip locked),
    moved as (
      update meeting_pages g set expires_at = $expiresAt from refreshed r
      where g.workspace_id = r.workspace_id and g.participant_id = r.participant_id
        and g.connection_id = r.connection_id),
    closed as (
      select g.workspace_id, g.participant_id, g.connection_id
      from jsonb_to_recordset($closed) as c ("workspaceId" int, "participantId" int, "connectionId" text)
      join meeting_pages g on g.workspace_id = c."workspaceId" and g.participant_id = c."participantId"
        and g.connection_id = c."connectionId"
      for no key update of g skip locked),
    ended as (
      update meeting_pages g set expires_at = least(g.expires_at, $closesAt) from closed c
      where g.workspace_id = c.workspace_id and g.participant_id = c.participant_id
        and g.connection_id = c.connection_id),
    expired as (
      select g.workspace_id, g.participant_id, g.connection_id from meeting_pages g
      where g.seated_at is not null and g.expires_at <= $now and not exists (
        select from refreshed r where r.workspace_id = g.workspace_id and r.participant_id = g.participant_id
          and r.connection_id = g.connection_id)
      limit 1000 for no key update of g skip locked),
    unseated as (
      update meeting_pages g set seated_at = null from expired e
      where g.workspace_id = e.workspace_id and g.participant_id = e.participant_id
        and g.connection_id = e.connection_id)
    delete from meeting_signals where (workspace_id, id) in (
      select s.workspace_id, s.id from meeting_signals s where s.created_at <= $oldest
      limit 10000 for update skip locked)`,
});

/**
 * Opens a page of a participant who has joined, with a seat if one of `seats` is free; reopening it keeps its seat. It
 * replaces the participant's other page, whose seat it takes over. Returns false if the participant has not joined, or
 * if another page has replaced this one.
 */
export async function openPage(sql: Sql, page: PageKey, now: Date, seats: number): Promise<boolean> {
  const expiresAt = new Date(now.getTime() + PAGE_LIFETIME_MS);
  const { workspaceId, participantId, connectionId } = page;
  return onlyRow(await sql.run(open, { workspaceId, participantId, connectionId, now, expiresAt, seats })).isOpen;
}

/**
 * Refreshes the pages whose streams are open, shortens the life of those whose streams were closed, takes the seats of
 * pages that have expired in any process, and deletes signals that are older than `signalMs`. One statement, whatever
 * the number of pages.
 */
export async function refreshPages(
  sql: Sql,
  now: Date,
  { open, closed, signalMs }: { open: PageKey[]; closed: PageKey[]; signalMs: number },
): Promise<void> {
  const after = (ms: number): Date => new Date(now.getTime() + ms);
  await sql.run(refresh, {
    open,
    closed,
    now,
    soon: after(PAGE_LIFETIME_MS * 0.8),
    expiresAt: after(PAGE_LIFETIME_MS),
    closesAt: after(REOPEN_MS),
    oldest: after(-signalMs),
  });
}
