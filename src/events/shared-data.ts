/** What several events have in common: the schemas of their `data`, each with its example. */
import { z } from 'zod';
import { externalId, metadata } from '../core/metadata.ts';
import { recordingStatuses } from '../core/recording-status.ts';
import { id, integerFrom, unixSeconds } from '../core/validation.ts';

export const room = { workspace_id: 7, room_id: 12, room_name: 'weekly-sync' };

export const itemData = z.object({
  workspace_id: id,
  item_id: id,
  name: z.string(),
  mime_type: z.string(),
  size: integerFrom(0).describe('Bytes'),
});

export const item = { workspace_id: 7, item_id: 88, name: 'contract.pdf', mime_type: 'application/pdf', size: 48213 };

export const recordingData = z.object({
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

export const recording = {
  ...room,
  recording_id: 31,
  archive_id: 'b40ef09b',
  title: 'Weekly sync',
  created_at: 1767225600,
};

export const visitData = z.object({
  workspace_id: id,
  room_id: id,
  room_name: z.string(),
  participant_id: id,
  participant_name: z.string(),
  user_id: id.nullable().describe('Null for a guest'),
  contact_id: id.nullable().describe('Null for a guest without an email address'),
  external_id: externalId,
  metadata,
  joined_at: unixSeconds,
});

export const visit = {
  ...room,
  participant_id: 55,
  participant_name: 'Vera Novak',
  user_id: null,
  contact_id: 9,
  external_id: null,
  metadata: null,
  joined_at: 1767225600,
};

export const bookingData = z.object({
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

export const booking = {
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

export const member = { workspace_id: 7, workspace_name: 'Design', user_id: 3, user_name: 'Mia Meyer' };
