import { z } from 'zod';
import { id } from '../../core/validation.ts';

const count = z.int();
const date = z.string().describe('UTC day').meta({ format: 'date', example: '2026-11-20' });

const Kpis = z
  .object({
    rooms: count,
    recordings: count,
    recordingDuration: count.describe('Seconds, all recordings together'),
    contacts: count,
    bookings: count.describe('Contact events of type booking'),
  })
  .meta({ id: 'Kpis', description: 'Lifetime counts' });

const ActivityDay = z
  .object({ date, bookings: count, room_joins: count })
  .meta({ id: 'ActivityDay', description: 'A day with at least one booking or join' });

const EventTypeCount = z
  .object({ type: z.string().meta({ example: 'room_join' }), count })
  .meta({ id: 'EventTypeCount', description: 'How many contact events of a type there ever were' });

const TopBookingPage = z
  .object({ id, title: z.string(), slug: z.string(), count: count.describe('Bookings, lifetime') })
  .meta({ id: 'TopBookingPage' });

const ContactsDay = z
  .object({ date, count })
  .meta({ id: 'ContactsDay', description: 'A day on which at least one contact was created' });

const TopRoom = z
  .object({
    id,
    name: z.string().describe('The slug'),
    display_name: z.string().nullable(),
    count: count.describe('Joins, lifetime'),
  })
  .meta({ id: 'TopRoom' });

export const Analytics = z
  .object({
    kpis: Kpis,
    activityTimeline: z.array(ActivityDay).describe('Last 30 days, oldest first; other days are left out'),
    eventTypeBreakdown: z.array(EventTypeCount).describe('The most frequent first'),
    topBookingPages: z.array(TopBookingPage).describe('At most 5, the most booked first'),
    newContactsTimeline: z.array(ContactsDay).describe('Last 30 days, oldest first; other days are left out'),
    topRooms: z.array(TopRoom).describe('At most 5, the most joined first'),
  })
  .meta({ id: 'Analytics', description: 'What happened in a workspace, in numbers' });
export type Analytics = z.infer<typeof Analytics>;
