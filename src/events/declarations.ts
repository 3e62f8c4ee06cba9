/**
 * All events of the service. Each declaration is all that the service knows of an event, besides the place that emits
 * it: the log, the webhooks, the live updates, the catalogue, the OpenAPI document and the client are derived from it.
 */
import { z } from 'zod';
import type { ScopeResource } from '../core/scopes.ts';
import { id, integerFrom, unixSeconds } from '../core/validation.ts';
import {
  booking,
  bookingData,
  item,
  itemData,
  member,
  recording,
  recordingData,
  room,
  visit,
  visitData,
} from './shared-data.ts';

/**
 * Who sees an event in the live updates:
 * - `members`: every member.
 * - `room hosts`: the user to whom the room belongs, the owner and the admins.
 */
export type Audience = 'members' | 'room hosts';

type Described<Data extends z.ZodObject> = {
  data: Data;
  description: string;
  example: z.input<Data>;
};

type Logged<Data extends z.ZodObject> = {
  data: Data;
  /**
   * The field of `data` that identifies the subject. Events about the same subject are sent in the order in which they
   * occurred.
   */
  subject: keyof z.output<Data> & string;
  audience: Audience;
  /** The resource for which an API key must have a scope that allows reading. */
  resource: ScopeResource;
};

/** An event of the log that is sent to webhooks. */
function event<Data extends z.ZodObject>(declared: Described<Data> & Logged<Data>): Described<Data> & Logged<Data> {
  return declared;
}

/** An event of the log that only the live updates send. */
function liveEvent<Data extends z.ZodObject>(declared: Logged<Data>): Logged<Data> {
  return declared;
}

/** An event that is sent to one webhook, and is not in the log. */
function testEvent<Data extends z.ZodObject>(declared: Described<Data>): Described<Data> {
  return declared;
}

const ofVisits = { subject: 'room_id', audience: 'room hosts', resource: 'rooms' } as const;
const ofRecordings = { subject: 'room_id', audience: 'room hosts', resource: 'recordings' } as const;
const ofMembers = { subject: 'user_id', audience: 'members', resource: 'workspace' } as const;
const ofItems = { subject: 'item_id', audience: 'members', resource: 'library' } as const;
const ofBookings = { subject: 'booking_id', audience: 'members', resource: 'bookings' } as const;

/** The events that a webhook can subscribe to, in the order of the catalogue. */
export const webhookEvents = {
  'room.created': event({
    subject: 'room_id',
    audience: 'members',
    resource: 'rooms',
    data: z.object({
      workspace_id: id,
      room_id: id,
      room_name: z.string(),
      display_name: z.string().nullable(),
      created_by: z.string().describe('Display name of the creator'),
      created_by_id: id,
      scheduled_at: z.number().nullable(),
      created_at: unixSeconds,
    }),
    description: 'A room was created in the workspace.',
    example: {
      ...room,
      display_name: 'Weekly sync',
      created_by: 'Mia Meyer',
      created_by_id: 3,
      scheduled_at: null,
      created_at: 1767225600,
    },
  }),
  'room.joined': event({
    ...ofVisits,
    data: visitData,
    description: 'A participant joined a room.',
    example: visit,
  }),
  'room.left': event({
    ...ofVisits,
    data: visitData.extend({ left_at: unixSeconds }),
    description: 'A participant left a room.',
    example: { ...visit, left_at: 1767229200 },
  }),
  'recording.started': event({
    ...ofRecordings,
    data: recordingData,
    description: 'A recording started in a room.',
    example: { ...recording, duration: 0, size: 0, status: 'started' },
  }),
  'recording.completed': event({
    ...ofRecordings,
    data: recordingData,
    description: 'A recording finished and can be downloaded.',
    example: { ...recording, duration: 3600, size: 734003200, status: 'available' },
  }),
  'member.joined': event({
    ...ofMembers,
    data: z.object({
      workspace_id: id,
      workspace_name: z.string(),
      user_id: id,
      user_name: z.string(),
      role: z.string(),
      joined_at: unixSeconds,
    }),
    description: 'A new member joined the workspace.',
    example: { ...member, role: 'member', joined_at: 1767225600 },
  }),
  'member.left': event({
    ...ofMembers,
    data: z.object({
      workspace_id: id,
      workspace_name: z.string(),
      user_id: id,
      user_name: z.string(),
      reason: z.enum(['left', 'removed', 'account_deleted']),
    }),
    description: 'A member left the workspace, was removed, or deleted their account.',
    example: { ...member, reason: 'removed' },
  }),
  'library_item.uploaded': event({
    ...ofItems,
    data: itemData.extend({
      description: z.string(),
      duration: integerFrom(0).nullable().describe('Seconds; null if unknown'),
      uploaded_by: id,
      uploaded_by_name: z.string(),
      created_at: unixSeconds,
    }),
    description: 'A file was added to the media library: uploaded, or saved from a recording.',
    example: {
      ...item,
      description: '',
      duration: null,
      uploaded_by: 3,
      uploaded_by_name: 'Mia Meyer',
      created_at: 1767225600,
    },
  }),
  'library_item.deleted': event({
    ...ofItems,
    data: itemData.extend({
      deleted_by: id.nullable().describe('Null if the retention policy deleted the item'),
      deleted_by_name: z.string().nullable(),
    }),
    description: 'A file was deleted from the media library, by a member or by the retention policy.',
    example: { ...item, deleted_by: 3, deleted_by_name: 'Mia Meyer' },
  }),
  'booking.created': event({
    ...ofBookings,
    data: bookingData,
    description: 'A guest booked a meeting.',
    example: booking,
  }),
  'booking.rescheduled': event({
    ...ofBookings,
    data: bookingData.extend({
      previous_starts_at: unixSeconds,
      previous_ends_at: unixSeconds,
      rescheduled_by: id.nullable().describe('User ID; null if the guest moved the meeting'),
    }),
    description: 'A meeting was moved to another time, by its guest or by a member.',
    example: {
      ...booking,
      starts_at: 1767261600,
      ends_at: 1767263400,
      sequence: 1,
      previous_starts_at: 1767258000,
      previous_ends_at: 1767259800,
      rescheduled_by: null,
    },
  }),
  'booking.cancelled': event({
    ...ofBookings,
    data: bookingData.extend({
      cancelled_at: unixSeconds,
      cancelled_by: id.nullable().describe('User ID; null if the guest cancelled the meeting'),
    }),
    description: 'A meeting was cancelled, by its guest or by a member.',
    example: { ...booking, sequence: 1, cancelled_at: 1767229200, cancelled_by: 3 },
  }),
  'contact.created': event({
    subject: 'contact_id',
    audience: 'members',
    resource: 'contacts',
    data: z.object({
      workspace_id: id,
      contact_id: id,
      name: z.string(),
      email: z.string(),
      created_at: unixSeconds,
    }),
    description: 'A contact was added: by a member, an import, a booking, or a guest who joined a room.',
    example: {
      workspace_id: 7,
      contact_id: 9,
      name: 'Vera Novak',
      email: 'vera@example.com',
      created_at: 1767225600,
    },
  }),
} as const;

/** A webhook cannot subscribe to them. */
export const liveEvents = {
  'library_item.updated': liveEvent({
    ...ofItems,
    data: itemData.extend({ duration: integerFrom(0).nullable().describe('Seconds; null if unknown') }),
  }),
} as const;

/** They need no subscription. */
export const testEvents = {
  'webhook.test': testEvent({
    data: z.object({
      workspace_id: id,
      webhook_id: id,
      webhook_name: z.string(),
      sent_by: z.string().describe('Display name of the user who sent the test'),
    }),
    description: 'A member tested this webhook. The event is sent even if the webhook does not subscribe to it.',
    example: { workspace_id: 7, webhook_id: 4, webhook_name: 'Chat announcements', sent_by: 'Mia Meyer' },
  }),
} as const;
