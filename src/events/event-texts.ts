/** Descriptions and examples of the events. */
import type { z } from 'zod';
import type { SentEvent, sentShapes } from './catalogue.ts';

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

const booking = {
  workspace_id: 7,
  booking_id: 21,
  booking_page_id: 2,
  title: 'Intro call',
  host_id: 3,
  host_name: 'Mia Meyer',
  contact_id: 9,
  guest_name: 'Vera Novak',
  guest_email: 'vera@example.com',
  guest_time_zone: 'Europe/Prague',
  room_name: 'amber-falcon',
  starts_at: 1767258000,
  ends_at: 1767259800,
  sequence: 0,
  created_at: 1767225600,
};

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
  'booking.created': { description: 'A guest booked a meeting.', example: booking },
  'booking.rescheduled': {
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
  },
  'booking.cancelled': {
    description: 'A meeting was cancelled, by its guest or by a member.',
    example: { ...booking, sequence: 1, cancelled_at: 1767229200, cancelled_by: 3 },
  },
  'contact.created': {
    description: 'A contact was added: by a member, an import, a booking, or a guest who joined a room.',
    example: {
      workspace_id: 7,
      contact_id: 9,
      name: 'Vera Novak',
      email: 'vera@example.com',
      created_at: 1767225600,
    },
  },
  'webhook.test': {
    description: 'A member tested this webhook. The event is sent even if the webhook does not subscribe to it.',
    example: { workspace_id: 7, webhook_id: 4, webhook_name: 'Chat announcements', sent_by: 'Mia Meyer' },
  },
};
