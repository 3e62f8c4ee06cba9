/** Reads what a page in a meeting learns from its stream: the visit, the others in the room, and signals from them. */
import type { RoomCaller } from '../../auth/participants.ts';
import { secondsOf } from '../../db/columns.ts';
import { bool, int, json, nullable, type RowOf, statement, text, time } from '../../db/statements.ts';
import type { InboxBatch, State, StateReader } from '../../live-updates/state-stream.ts';
import type { Services } from '../../services.ts';
import { isSeated, mediaColumnsOf, mediaReturns, seatsFor, toMedia } from '../peers/media.ts';
import { openPage } from '../peers/meeting-pages.ts';
import type { FailedRecording, Peer, RunningRecording } from '../peers/schemas.ts';
import { isFullBatch, readSignals, removeSignal, type StoredSignal, signalTopic } from '../peers/signals.ts';
import {
  isHostParticipant,
  isMemberOf,
  participantReturns,
  selectColumns,
  toParticipantRecord,
} from './participant-record.ts';
import { toVisitor } from './participant-reference.ts';
import { toOwnParticipant } from './present.ts';
import { roomDeleted, toVisitState } from './visit-state.ts';

type Needs = Pick<Services, 'db' | 'clock' | 'settings' | 'sealer' | 'livekitEgress' | 'pages' | 'log'>;

/** How many of the others are listed: those with a page first, whom people who only joined must not crowd out. */
const MAX_PEERS = 100;

/** Visitors are told of failed recordings that began at most this long before them, so that few rows are read. */
const MAX_RUNNING = '1 day';

/** SQL for when the recording `c`, which has failed, did so. Providers say when, and may say it again. */
const failedAt = 'coalesce(c.failed_at, c.updated_at)';

const readMeeting = statement('read-meeting', {
  params: { workspaceId: int, id: int, connectionId: text, now: time },
  returns: {
    ...participantReturns,
    ...mediaReturns,
    waitingRoomMessage: nullable(text),
    isOpen: bool,
    isReplaced: bool,
    chat: int,
    recording: nullable(json<RunningRecording>('json')),
    failedRecording: nullable(json<FailedRecording>('json')),
    peers: json<Peer[]>('json'),
  },
  sql: `
    select ${selectColumns('$now')}, ${mediaColumnsOf('p.id')}, r.waiting_room_message as "waitingRoomMessage",
      own.connection_id is not null as "isOpen", own.replaced_at is not null as "isReplaced",
      r.chat_enabled::int as chat,
      (case when p.status = 'joined' then (
        select json_build_object('id', c.id, 'participant_id', s.id, 'name', s.name,
          'started_at', ${secondsOf('c.created_at')})
        from recordings c left join participants s on s.workspace_id = c.workspace_id and s.id = c.started_by
        where c.workspace_id = r.workspace_id and c.room_id = r.id and c.status = 'started' and c.ended_at is null
          and (c.started_by is null or s.status = 'joined')
        order by c.created_at, c.id limit 1) end) as recording,
      (case when p.status = 'joined' then (
        select json_build_object('id', c.id, 'participant_id', s.id, 'name', s.name,
          'started_at', ${secondsOf('c.created_at')}, 'failed_at', ${secondsOf(failedAt)})
        from recordings c left join participants s on s.workspace_id = c.workspace_id and s.id = c.started_by
        where c.workspace_id = r.workspace_id and c.room_id = r.id and c.status = 'failed'
          and c.created_at > p.joined_at - interval '${MAX_RUNNING}'
          and coalesce(c.ended_at, ${failedAt}) >= p.joined_at
          and not exists (
            select from recordings n
            where n.workspace_id = c.workspace_id and n.room_id = c.room_id and n.created_at > ${failedAt})
        order by c.created_at desc, c.id desc limit 1) end) as "failedRecording",
      (case when p.status = 'joined' then (
        select coalesce(json_agg(o.peer order by o.joined_at, o.id), '[]') from (
          select o.id, o.joined_at, json_build_object('id', o.id, 'name', o.name,
            'is_host', (${isHostParticipant('o', '$now')})::int, 'is_member', (${isMemberOf('o.user_id')})::int,
            'connection_id', g.connection_id, 'microphone', coalesce(g.microphone, false)::int,
            'camera', coalesce(g.camera, false)::int, 'screen', coalesce(g.screen, false)::int,
            'recording', exists (
              select from recordings c
              where c.workspace_id = o.workspace_id and c.room_id = o.room_id and c.status = 'started'
                and c.ended_at is null and c.started_by = o.id)::int) as peer
          from participants o
          left join meeting_pages g on g.workspace_id = o.workspace_id and g.participant_id = o.id and ${isSeated}
          where o.workspace_id = r.workspace_id and o.room_id = r.id and o.status = 'joined' and o.id <> p.id
          order by g.connection_id is null, o.joined_at, o.id limit ${MAX_PEERS}) o) else '[]' end) as peers
    from participants p join rooms r on r.workspace_id = p.workspace_id and r.id = p.room_id
    left join meeting_pages own on own.workspace_id = p.workspace_id and own.participant_id = p.id
      and own.connection_id = $connectionId
    where p.workspace_id = $workspaceId and p.id = $id`,
});

type Meeting = RowOf<typeof readMeeting>;

/**
 * Creates the reader of a page. The page takes the participant's place in the meeting once they have joined, and a seat
 * as soon as one is free. One statement reads everything again after a change.
 */
export function createMeetingReader(
  services: Needs,
  { workspaceId, id }: RoomCaller,
  connectionId: string,
): StateReader {
  const { db, clock, settings, pages, log } = services;
  const page = { workspaceId, participantId: id, connectionId };
  let isOpened = false;
  let isReplaced = false;
  /** The connections in the last list of peers. */
  let known = new Set<string>();
  let lastSignal = 0;

  const readRow = async (now: Date): Promise<Meeting | undefined> => {
    const [row] = await db.sql.run(readMeeting, { workspaceId, id, connectionId, now });
    return row;
  };

  const read = async (): Promise<State[]> => {
    const now = clock.now();
    let row = await readRow(now);
    if (row && mustOpen(row)) {
      await openPage(db.sql, page, now, seatsFor(row, settings));
      isOpened = true;
      row = await readRow(now);
    }
    if (!row) return [roomDeleted];
    isReplaced = row.isReplaced;
    return toStates(row, now);
  };

  /** The page opens when it joins. Later it tries again while it has no seat and one is free. */
  const mustOpen = (row: Meeting): boolean => {
    if (row.status !== 'joined' || row.isReplaced) return false;
    if (!isOpened || !row.isOpen) return true;
    return !row.hasSeat && row.seatsTaken < seatsFor(row, settings);
  };

  const toStates = async (
    { waitingRoomMessage, peers, recording, failedRecording, chat, ...row }: Meeting,
    now: Date,
  ): Promise<State[]> => {
    const record = toParticipantRecord(row);
    if (record.status === 'joined' && isReplaced)
      return [{ about: 'visit', event: 'connection.replaced', data: { participant: null }, isFinal: true }];
    const data = {
      participant: toOwnParticipant(record, waitingRoomMessage),
      media: await toMedia(services, { sql: db.sql, now }, toVisitor(services.sealer, record, connectionId), row),
    };
    const visit = { about: 'visit', ...toVisitState(record), data };
    if (record.status !== 'joined') return [visit];
    known = new Set(peers.flatMap(({ connection_id }) => connection_id ?? []));
    const meeting = { peers, recording, failed_recording: failedRecording, chat };
    return [visit, { about: 'peers', event: 'peers', data: meeting, isFinal: false }];
  };

  const readInbox = async (): Promise<InboxBatch> => {
    const signals = await readSignals(db.sql, clock.now(), page, lastSignal);
    lastSignal = signals.at(-1)?.id ?? lastSignal;
    const mutes = signals.filter(({ kind }) => kind === 'mute');
    return {
      messages: signals.map(toMessage),
      isFull: isFullBatch(signals),
      needsStates: signals.some(({ fromConnection }) => fromConnection !== null && !known.has(fromConnection)),
      ...(mutes.length > 0 && { onSent: () => forget(mutes) }),
    };
  };

  const forget = async (mutes: StoredSignal[]): Promise<void> => {
    try {
      for (const mute of mutes) await removeSignal(db.sql, page, mute.id);
    } catch (error) {
      // The page is asked again after a reconnect within a minute.
      log.warn({ err: error }, 'Failed to remove a request to mute');
    }
  };

  return {
    read,
    inbox: { topic: signalTopic(page), read: readInbox },
    onOpen({ signal }) {
      const close = pages.open(page);
      signal.addEventListener('abort', close, { once: true });
      if (signal.aborted) close();
    },
  };
}

function toMessage({ id, kind, from, fromConnection, data }: StoredSignal): InboxBatch['messages'][number] {
  if (kind === 'mute') return { event: 'mute.requested', data: { name: data } };
  return { event: 'signal', data: { id, from, from_connection_id: fromConnection, data } };
}
