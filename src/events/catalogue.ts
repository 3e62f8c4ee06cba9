/**
 * Every event that the service knows, with the shape of its `data`. Nothing causes those of recordings and of
 * visits to rooms yet: the functions that write them have no operation.
 */
import { z } from 'zod';
import { recordingStatuses } from '../core/recording-status.ts';
import { id, unixSeconds } from '../core/validation.ts';

const itemData = z.object({
  workspace_id: id,
  item_id: id,
  name: z.string(),
  mime_type: z.string(),
  size: z.int().describe('Bytes'),
});

const recordingData = z.object({
  workspace_id: id,
  room_id: id,
  room_name: z.string(),
  recording_id: id,
  archive_id: z.string(),
  title: z.string().nullable(),
  duration: z.int().describe('Seconds; 0 until known'),
  size: z.int().describe('Bytes; 0 until known'),
  status: z.enum(recordingStatuses),
  created_at: unixSeconds,
});

const visitData = z.object({
  workspace_id: id,
  room_id: id,
  room_name: z.string(),
  participant_id: id,
  participant_name: z.string(),
  user_id: id.nullable().describe('null: a guest'),
  contact_id: id.nullable().describe('null: a guest who gave no email address'),
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
    duration: z.int().nullable().describe('Seconds; null where unknown'),
    uploaded_by: id,
    uploaded_by_name: z.string(),
    created_at: unixSeconds,
  }),
  'library_item.deleted': itemData.extend({
    deleted_by: id.nullable().describe('null: by the retention policy'),
    deleted_by_name: z.string().nullable(),
  }),
} as const;

export type EventType = keyof typeof eventShapes;

/** One event, as it is emitted. */
export type NewEvent = {
  [Type in EventType]: { type: Type; workspaceId: number; data: z.input<(typeof eventShapes)[Type]> };
}[EventType];
