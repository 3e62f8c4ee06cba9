/**
 * Signals: short texts from one page of a meeting to another, through which browsers agree on a connection. They are
 * stored until they are a minute old, so that a page whose stream was lost gets those that it has missed.
 */
import type { RoomCaller } from '../../auth/participants.ts';
import { AppError, forbidden, notFound, tooManyRequests } from '../../core/errors.ts';
import { DAY_MS, MINUTE_MS } from '../../core/time.ts';
import { onlyRow } from '../../db/only-row.ts';
import { float, int, nullable, oneOf, type RowOf, type Sql, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { PageKey } from './meeting-pages.ts';
import type { SignalInput } from './schemas.ts';

/** How long a signal is stored. */
export const SIGNAL_LIFETIME_MS = MINUTE_MS;

/**
 * How many bytes of signals are stored for a page, from one sender and in total. Each counts as at least 1,024 bytes.
 */
export const MAX_BYTES_PER_SENDER = 512 * 1024;
export const MAX_BYTES_PER_PAGE = 8 * 1024 * 1024;
/** How long a page that was replaced, or that nobody opens again, is remembered. */
const PAGE_RETENTION_MS = DAY_MS;
/** How many signals are read at a time: at most half of what the queue of a stream holds. */
const MAX_BATCH = 8;
/** When a sender who has reached a limit may try again. */
const RETRY_SECONDS = 5;

type Outcome =
  | 'sent'
  | 'not_joined'
  | 'unknown_sender'
  | 'replaced'
  | 'not_seated'
  | 'unknown_participant'
  | 'unknown_recipient'
  | 'too_much';

const send = statement('send-meeting-signal', {
  params: {
    workspaceId: int,
    roomId: int,
    from: int,
    fromConnection: text,
    to: int,
    toConnection: text,
    data: text,
    now: time,
    oldest: time,
    maxPair: int,
    maxTotal: int,
  },
  returns: { outcome: oneOf<Outcome>() },
  writes: true,
  hasChanged: ([row]) => row?.outcome === 'sent',
  sql: `
    select send_meeting_signal($workspaceId, $roomId, $from, $fromConnection, $to, $toConnection, $data, $now, $oldest,
      $maxPair, $maxTotal) as outcome`,
});

const read = statement('read-meeting-signals', {
  params: { workspaceId: int, participantId: int, connectionId: text, after: float, oldest: time },
  returns: {
    id: float,
    kind: oneOf<'signal' | 'mute'>(),
    from: nullable(int),
    fromConnection: nullable(text),
    data: text,
  },
  sql: `
    select s.id::float8 as id, s.kind, s.from_participant_id as "from", s.from_connection_id as "fromConnection", s.data
    from meeting_signals s
    where s.workspace_id = $workspaceId and s.participant_id = $participantId and s.connection_id = $connectionId
      and s.id > $after::bigint and s.created_at > $oldest
      and exists (
        select from participants p
        where p.workspace_id = $workspaceId and p.id = $participantId and p.status = 'joined')
      and (s.from_participant_id is null or exists (
        select from participants p
        where p.workspace_id = $workspaceId and p.id = s.from_participant_id and p.status = 'joined'))
    order by s.id limit ${MAX_BATCH}`,
});

const remove = statement('remove-meeting-signal', {
  params: { workspaceId: int, id: float },
  sql: 'delete from meeting_signals where workspace_id = $workspaceId and id = $id::bigint',
});

const prune = statement('prune-meetings', {
  params: { oldest: time, forgotten: time },
  returns: { count: int },
  sql: `
    with signals as (delete from meeting_signals where created_at <= $oldest returning id),
    pages as (delete from meeting_pages where expires_at <= $forgotten returning participant_id)
    select ((select count(*) from signals) + (select count(*) from pages))::int as count`,
});

/** A signal, or the request of a host to mute (`kind` is `mute`, `data` is the host's name). */
export type StoredSignal = RowOf<typeof read>;

/** Whether there may be more signals after these. */
export function isFullBatch(signals: readonly StoredSignal[]): boolean {
  return signals.length === MAX_BATCH;
}

/** The topic of the notifications about signals for a page. A trigger sends them. */
export function signalTopic({ participantId, connectionId }: PageKey): string {
  return `page:${participantId}:${connectionId}`;
}

/**
 * Stores a signal for the page of another participant who has joined the same room. The signal is not read. Throws 403
 * unless the sender has joined; 404 "Participant not found", or "Connection not found" if one of the pages does not
 * exchange media; 409 CONNECTION_REPLACED if another page of the sender does instead, and MEETING_FULL if the sender
 * has no place in the meeting; 429 if too much is stored for the recipient.
 */
export async function sendSignal(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId, roomId, id }: RoomCaller,
  { connection_id: fromConnection, to, to_connection_id: toConnection, data }: SignalInput,
): Promise<{ ok: true }> {
  const now = clock.now();
  const sender = { workspaceId, roomId, from: id, fromConnection };
  const limits = { oldest: oldestAt(now), maxPair: MAX_BYTES_PER_SENDER, maxTotal: MAX_BYTES_PER_PAGE };
  const rows = await db.sql.run(send, { ...sender, to, toConnection, data, now, ...limits });
  const { outcome } = onlyRow(rows);
  if (outcome !== 'sent') throw refusalOf(outcome);
  return { ok: true };
}

function refusalOf(outcome: Exclude<Outcome, 'sent'>): AppError {
  switch (outcome) {
    case 'not_joined':
      return forbidden('Only participants who have joined can send signals');
    case 'replaced':
      return connectionReplaced();
    case 'not_seated':
      return meetingFull('All places in the meeting are taken');
    case 'unknown_participant':
      return notFound('Participant');
    case 'unknown_sender':
    case 'unknown_recipient':
      return notFound('Connection');
    case 'too_much':
      return tooManyRequests('Too many signals for this participant: try again later', RETRY_SECONDS);
  }
}

/** 409 for a page after another page of the participant has opened a stream. */
export function connectionReplaced(): AppError {
  return new AppError('CONNECTION_REPLACED', 'Another page of this participant has taken over');
}

/** 409 while all places in a meeting are taken. The same call may succeed later. */
export function meetingFull(message: string): AppError {
  return new AppError('MEETING_FULL', message, { isTransient: true });
}

function oldestAt(now: Date): Date {
  return new Date(now.getTime() - SIGNAL_LIFETIME_MS);
}

/**
 * Returns the next signals for a page, oldest first, after the ID `after`: a few at a time, so that they fit into the
 * queue of a stream. Leaves out those of senders who have left. Returns none unless the participant has joined.
 */
export function readSignals(
  sql: Sql,
  now: Date,
  { workspaceId, participantId, connectionId }: PageKey,
  after: number,
): Promise<StoredSignal[]> {
  return sql.run(read, { workspaceId, participantId, connectionId, after, oldest: oldestAt(now) });
}

/** Removes a request to mute once the page has got it, so that a reopened stream does not repeat it. */
export async function removeSignal(sql: Sql, { workspaceId }: PageKey, id: number): Promise<void> {
  await sql.run(remove, { workspaceId, id });
}

/** Deletes signals that are older than a minute, and pages that nobody has opened for a day. Returns how many. */
export async function pruneMeetings({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<number> {
  const now = clock.now();
  const forgotten = new Date(now.getTime() - PAGE_RETENTION_MS);
  return onlyRow(await db.sql.run(prune, { oldest: oldestAt(now), forgotten })).count;
}
