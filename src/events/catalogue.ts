/** Every event of the service: the schema of its `data`, a description and an example. */
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
} as const;

export type EventType = keyof typeof eventShapes;

/**
 * The field of `data` that says what an event is about. Events about the same subject are sent in the order in which
 * they occurred.
 */
export const subjectFields: Record<EventType, SubjectField> = {
  'room.created': 'room_id',
  'room.joined': 'room_id',
  'room.left': 'room_id',
  'recording.started': 'room_id',
  'recording.completed': 'room_id',
  'member.joined': 'user_id',
  'member.left': 'user_id',
  'library_item.uploaded': 'item_id',
  'library_item.deleted': 'item_id',
};

type SubjectField = 'room_id' | 'user_id' | 'item_id';

/** The events that a webhook can subscribe to, in the order of the catalogue. */
export const eventTypes = namesOf(eventShapes);

/** The data of an event. */
export type EventData<Type extends EventType> = z.input<(typeof eventShapes)[Type]>;

/** An event to be emitted. */
export type NewEvent = {
  [Type in EventType]: { type: Type; workspaceId: number; data: EventData<Type> };
}[EventType];

/** All events that are sent to webhooks. The test event is not in the event log and needs no subscription. */
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

/** The body of a webhook request. `event` determines the type of `data`. */
export type WebhookBody = {
  [Event in SentEvent]: {
    event: Event;
    /** When the event happened, ISO 8601 in UTC. */
    timestamp: string;
    data: z.output<(typeof sentShapes)[Event]>;
  };
}[SentEvent];

type EventText<Type extends SentEvent> = { description: string; example: z.input<(typeof sentShapes)[Type]> };

const room = { workspace_id: 7, room_id: 12, room_name: 'weekly-sync' };
const recording = { ...room, recording_id: 31, archive_id: 'b40ef09b', title: 'Weekly sync', created_at: 1767225600 };
const visit = {
  ...room,
  participant_id: 55,
  participant_name: 'Vera Novak',
  user_id: null,
  contact_id: 9,
  joined_at: 1767225600,
};
const member = { workspace_id: 7, workspace_name: 'Design', user_id: 3, user_name: 'Mia Meyer' };
const item = { workspace_id: 7, item_id: 88, name: 'contract.pdf', mime_type: 'application/pdf', size: 48213 };

/** A description of each event, and an example of its `data`. */
export const eventTexts: { [Type in SentEvent]: EventText<Type> } = {
  'room.created': {
    description: 'A room was created in the workspace.',
    example: {
      ...room,
      display_name: 'Weekly sync',
      created_by: 'Mia Meyer',
      created_by_id: 3,
      scheduled_at: null,
      created_at: 1767225600,
    },
  },
  'room.joined': { description: 'A participant joined a room.', example: visit },
  'room.left': { description: 'A participant left a room.', example: { ...visit, left_at: 1767229200 } },
  'recording.started': {
    description: 'A recording started in a room.',
    example: { ...recording, duration: 0, size: 0, status: 'started' },
  },
  'recording.completed': {
    description: 'A recording finished and can be downloaded.',
    example: { ...recording, duration: 3600, size: 734003200, status: 'available' },
  },
  'member.joined': {
    description: 'A new member joined the workspace.',
    example: { ...member, role: 'member', joined_at: 1767225600 },
  },
  'member.left': {
    description: 'A member left the workspace, was removed, or deleted their account.',
    example: { ...member, reason: 'removed' },
  },
  'library_item.uploaded': {
    description: 'A file was added to the media library: uploaded, or saved from a recording.',
    example: {
      ...item,
      description: '',
      duration: null,
      uploaded_by: 3,
      uploaded_by_name: 'Mia Meyer',
      created_at: 1767225600,
    },
  },
  'library_item.deleted': {
    description: 'A file was deleted from the media library, by a member or by the retention policy.',
    example: { ...item, deleted_by: 3, deleted_by_name: 'Mia Meyer' },
  },
  'webhook.test': {
    description: 'A member tested this webhook. The event is sent whichever events the webhook subscribes to.',
    example: { workspace_id: 7, webhook_id: 4, webhook_name: 'Chat announcements', sent_by: 'Mia Meyer' },
  },
};

// `as`: TypeScript types the result of Object.keys as strings, since an object may have more keys than its type.
function namesOf<Name extends string>(shapes: Record<Name, unknown>): readonly Name[] {
  return Object.keys(shapes) as Name[];
}
