/**
 * Reads the event log by `sequence`. The relay assigns sequences in the order in which events become visible: once a
 * sequence is visible, no lower sequence appears later.
 */
import type { Database } from '../db/client.ts';
import { onlyRow } from '../db/only-row.ts';
import { bool, float, int, json, nullable, type RowOf, statement, text, time } from '../db/statements.ts';
import { toBody } from '../events/envelope.ts';

export type LoggedEvent = {
  workspaceId: number;
  sequence: number;
  type: string;
  /**
   * The user to whom the room of the event belongs; null if the event is not about a room, or if the room was deleted.
   */
  roomUserId: number | null;
  /** The same JSON as the body of a webhook request. */
  body: string;
};

/** A workspace, and the last sequence that was read from it. */
export type Position = { workspaceId: number; sequence: number };

/** The maximum number of events that one statement reads for each workspace. */
export const MAX_EVENTS = 200;

const readStatement = statement('read-event-log', {
  params: { positions: json<Position[]>() },
  returns: {
    workspaceId: int,
    sequence: float,
    type: text,
    data: json<unknown>(),
    createdAt: time,
    roomUserId: nullable(int),
  },
  sql: `
    select e.workspace_id as "workspaceId", e.sequence::float8 as sequence, e.type, e.data,
      e.created_at as "createdAt", r.user_id as "roomUserId"
    from jsonb_to_recordset($positions) as p ("workspaceId" int, sequence bigint)
    cross join lateral (
      select * from events e
      where e.workspace_id = p."workspaceId" and e.sequence > p.sequence
      order by e.sequence limit ${MAX_EVENTS}) e
    left join rooms r on r.workspace_id = e.workspace_id and r.id = (e.data->>'room_id')::int
    order by e.sequence`,
});

const findPositionStatement = statement('find-event-log-position', {
  params: { workspaceId: int, sequence: float },
  returns: { last: float, hasSequence: bool },
  sql: `
    select coalesce((select max(sequence) from events where workspace_id = $workspaceId), 0)::float8 as last,
      exists (select from events where workspace_id = $workspaceId and sequence = $sequence::bigint) as "hasSequence"`,
});

/** Returns the events after each position in the order of their sequences, at most `MAX_EVENTS` per workspace. */
export async function readEvents({ sql }: Pick<Database, 'sql'>, positions: Position[]): Promise<LoggedEvent[]> {
  const rows = await sql.run(readStatement, { positions });
  return rows.map(toLoggedEvent);
}

function toLoggedEvent({ createdAt, data, ...row }: RowOf<typeof readStatement>): LoggedEvent {
  return { ...row, body: toBody({ event: row.type, timestamp: createdAt, data }) };
}

/**
 * Returns the last sequence of the workspace (0 if it has no events), and whether the log still contains `sequence`.
 */
export async function findPosition(
  { sql }: Pick<Database, 'sql'>,
  { workspaceId, sequence }: Position,
): Promise<RowOf<typeof findPositionStatement>> {
  return onlyRow(await sql.run(findPositionStatement, { workspaceId, sequence }));
}
