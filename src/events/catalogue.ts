/** All events of the service, with the schemas of their `data`. `event-texts.ts` has the descriptions. */
import { z } from 'zod';
import { recordingStatuses } from '../core/recording-status.ts';
import { id, integerFrom, unixSeconds } from '../core/validation.ts';

const itemData = z.object({
  workspace_id: id,
  item_id: id,
  name: z.string(),
  mime_type: z.string(),
  size: integerFrom(0).describe('Bytes'),
});

const recordingData = z.object({
  workspace_id: id,
  room_id: id,
  room_name: z.string(),
  recording_id: id,
  archive_id: z.string(),
  title: z.string().nullable(),
  duration: integerFrom(0).describe('Seconds; 0 until known'),
  size: integerFrom(0).describe('Bytes; 0 until known'),
  status: z.enum(recordingStatuses),
  created_at: unixSeconds,
});

const visitData = z.object({
  workspace_id: id,
  room_id: id,
  room_name: z.string(),
  participant_id: id,
  participant_name: z.string(),
  user_id: id.nullable().describe('Null for a guest'),
  contact_id: id.nullable().describe('Null for a guest without an email address'),
  joined_at: unixSeconds,
});

const bookingData = z.object({
  workspace_id: id,
  booking_id: id,
  booking_page_id: id,
  title: z.string().describe('The title of the page'),
  host_id: id,
  host_name: z.string(),
  contact_id: id.nullable().describe('Null if the guest is not a contact'),
  guest_name: z.string(),
  guest_email: z.string(),
  guest_time_zone: z.string().nullable().describe('IANA time zone, or an offset such as `+05:30`; null if unknown'),
  room_name: z.string().nullable().describe('Null if the room was deleted'),
  starts_at: unixSeconds,
  ends_at: unixSeconds,
  sequence: integerFrom(0).describe('How many times the booking was changed, including its cancellation'),
  created_at: unixSeconds.describe('When the meeting was booked'),
});

export const eventShapes = {
  'room.created': z.object({
    workspace_id: id,
    room_id: id,
    room_name: z.string(),
    display_name: z.string().nullable(),
    created_by: z.string().describe('Display name of the creator'),
    created_by_id: id,
    scheduled_at: z.number().nullable(),
    created_at: unixSeconds,
  }),
  'room.joined': visitData,
  'room.left': visitData.extend({ left_at: unixSeconds }),
  'recording.started': recordingData,
  'recording.completed': recordingData,
  'member.joined': z.object({
    workspace_id: id,
    workspace_name: z.string(),
    user_id: id,
    user_name: z.string(),
    role: z.string(),
    joined_at: unixSeconds,
  }),
  'member.left': z.object({
    workspace_id: id,
    workspace_name: z.string(),
    user_id: id,
    user_name: z.string(),
    reason: z.enum(['left', 'removed', 'account_deleted']),
  }),
  'library_item.uploaded': itemData.extend({
    description: z.string(),
    duration: integerFrom(0).nullable().describe('Seconds; null if unknown'),
    uploaded_by: id,
    uploaded_by_name: z.string(),
    created_at: unixSeconds,
  }),
  'library_item.deleted': itemData.extend({
    deleted_by: id.nullable().describe('Null if the retention policy deleted the item'),
    deleted_by_name: z.string().nullable(),
  }),
  'booking.created': bookingData,
  'booking.rescheduled': bookingData.extend({
    previous_starts_at: unixSeconds,
    previous_ends_at: unixSeconds,
    rescheduled_by: id.nullable().describe('User ID; null if the guest moved the meeting'),
  }),
  'booking.cancelled': bookingData.extend({
    cancelled_at: unixSeconds,
    cancelled_by: id.nullable().describe('User ID; null if the guest cancelled the meeting'),
  }),
  'contact.created': z.object({
    workspace_id: id,
    contact_id: id,
    name: z.string(),
    email: z.string(),
    created_at: unixSeconds,
  }),
} as const;

export type EventType = keyof typeof eventShapes;

/** Events that only the live updates send. A webhook cannot subscribe to them. */
export const liveShapes = {
  'library_item.updated': itemData.extend({
    duration: integerFrom(0).nullable().describe('Seconds; null if unknown'),
  }),
} as const;

export type LiveType = keyof typeof liveShapes;

/** All events of the event log. */
export const loggedShapes = { ...eventShapes, ...liveShapes } as const;

export type LoggedType = keyof typeof loggedShapes;

/**
 * The field of `data` that identifies the subject of an event. Events about the same subject are sent in the order in
 * which they occurred.
 */
export const subjectFields: Record<LoggedType, SubjectField> = {
  'room.created': 'room_id',
  'room.joined': 'room_id',
  'room.left': 'room_id',
  'recording.started': 'room_id',
  'recording.completed': 'room_id',
  'member.joined': 'user_id',
  'member.left': 'user_id',
  'library_item.uploaded': 'item_id',
  'library_item.updated': 'item_id',
  'library_item.deleted': 'item_id',
  'booking.created': 'booking_id',
  'booking.rescheduled': 'booking_id',
  'booking.cancelled': 'booking_id',
  'contact.created': 'contact_id',
};

type SubjectField = 'room_id' | 'user_id' | 'item_id' | 'booking_id' | 'contact_id';

/** The events that a webhook can subscribe to, in the order of the catalogue. */
export const eventTypes = namesOf(eventShapes);

export const loggedTypes = namesOf(loggedShapes);

/** The data of an event. */
export type EventData<Type extends LoggedType> = z.input<(typeof loggedShapes)[Type]>;

/** An event to be emitted. */
export type NewEvent = {
  [Type in LoggedType]: { type: Type; workspaceId: number; data: EventData<Type> };
}[LoggedType];

/** All events that are sent to webhooks. The test event needs no subscription, and is not in the event log. */
export const sentShapes = {
  ...eventShapes,
  'webhook.test': z.object({
    workspace_id: id,
    webhook_id: id,
    webhook_name: z.string(),
    sent_by: z.string().describe('Display name of the user who sent the test'),
  }),
} as const;

export type SentEvent = keyof typeof sentShapes;

/** All events that a receiver can get, in the order of the catalogue; `webhook.test` is last. */
export const sentEvents = namesOf(sentShapes);

type Body<Event extends string, Data> = {
  event: Event;
  /** The time at which the event happened (ISO 8601, UTC). */
  timestamp: string;
  data: Data;
};

/** The body of a webhook request. `event` determines the type of `data`. */
export type WebhookBody = { [Event in SentEvent]: Body<Event, z.output<(typeof sentShapes)[Event]>> }[SentEvent];

/** An event of the live updates. `event` determines the type of `data`. */
export type LiveBody = { [Event in LoggedType]: Body<Event, z.output<(typeof loggedShapes)[Event]>> }[LoggedType];

// `as`: TypeScript types the result of Object.keys as strings, because an object may have more keys than its type.
function namesOf<Name extends string>(shapes: Record<Name, unknown>): readonly Name[] {
  return Object.keys(shapes) as Name[];
}
