import { json, statement, text, time } from '../db/statements.ts';

/** The message of an event in the log. */
export type NewMessage = {
  workspaceId: number;
  id: string;
  webhookId: number;
  /** Null if the message is held behind `afterId`, or if the relay queues it later. */
  jobId: string | null;
  /** The order of the job in the queue (`toQueueRank`); null without a job. */
  queueRank: number | null;
  afterId: string | null;
  eventId: string;
  sequence: string;
  subject: string | null;
  event: string;
  payload: string;
  /** Absent if the event belongs to no trace. */
  traceparent: string | undefined;
  createdAt: Date;
};

/** Adds pending messages, except for events for which the webhook has one already. Returns the IDs of those added. */
export const insertMessages = statement('insert-messages', {
  params: { now: time, messages: json<readonly NewMessage[]>() },
  returns: { id: text },
  sql: `
    insert into webhook_messages
      (workspace_id, id, webhook_id, event_id, sequence, subject, after_id, event, payload, status, job_id,
       queued_job_id, queue_rank, due_at, next_attempt_at, created_at, updated_at, traceparent)
    select m."workspaceId", m.id, m."webhookId", m."eventId", m.sequence, m.subject, m."afterId", m.event, m.payload,
      'waiting', m."jobId", m."jobId", m."queueRank", case when m."jobId" is not null then now() end, $now,
      m."createdAt", $now, m.traceparent
    from jsonb_to_recordset($messages) as m
      ("workspaceId" int, id text, "webhookId" int, "eventId" bigint, sequence bigint, subject text, "afterId" text,
       event text, payload text, "jobId" uuid, "queueRank" int, traceparent text, "createdAt" timestamptz)
    on conflict (workspace_id, webhook_id, event_id) do nothing
    returning id`,
});
