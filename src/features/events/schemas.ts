import { z } from 'zod';
import { badField } from '../../core/errors.ts';
import type { LiveBody } from '../../events/catalogue.ts';

const EVENT_ID = /^\d{1,15}$/;

export const StreamQuery = z.object({
  last_event_id: z
    .string()
    .regex(EVENT_ID, 'last_event_id must be the id of an event from an event stream')
    .optional()
    .describe('Has the same meaning as the header `Last-Event-ID`, which takes precedence'),
});

export const LiveInput = z.object({
  lastEventId: z
    .string()
    .regex(EVENT_ID, 'lastEventId must be the id of an event from an event stream')
    .nullish()
    .describe('The ID of the last event that the client received; 0 means the beginning of the log'),
});

/** A notice that a stream sends in addition to the events. */
type StreamNotice = {
  /**
   * `stream.opened`: the stream begins here. `stream.reset`: events after the last received event are no longer in the
   * log, so the client must reload its data.
   */
  event: 'stream.opened' | 'stream.reset';
  timestamp: string;
  data: { workspace_id: number };
};

/** A message of an event stream. `event` determines the type of `data`. */
export type LiveEvent = LiveBody | StreamNotice;

/** Returns the sequence number that an event ID contains, or null if there is no ID. */
export function toSequence(id: string | null | undefined): number | null {
  return id ? Number(id) : null;
}

/** Returns the header `Last-Event-ID`. Throws 400 if it is not the ID of an event. */
export function readLastEventId(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined {
  const { 'last-event-id': id } = headers;
  if (id !== undefined && !EVENT_ID.test(String(id)))
    throw badField('Last-Event-ID', 'Last-Event-ID must be the id of an event from an event stream');
  return id === undefined ? undefined : String(id);
}
