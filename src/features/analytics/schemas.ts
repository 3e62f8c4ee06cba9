import { z } from 'zod';
import { count, id, integerFrom } from '../../core/validation.ts';

const date = z.string().describe('UTC day').meta({ format: 'date', example: '2026-11-20' });

const Kpis = z
  .object({
    rooms: count,
    recordings: count,
    recordingDuration: integerFrom(0).describe('Total duration of all recordings, in seconds'),
    contacts: count,
    bookings: count.describe('Number of contact events of type `booking`'),
  })
  .meta({ id: 'Kpis', description: 'Lifetime counts' });

const ActivityDay = z
  .object({ date, bookings: count, room_joins: count })
  .meta({ id: 'ActivityDay', description: 'Activity on a day with at least one booking or room join' });

const EventTypeCount = z
  .object({ type: z.string().meta({ example: 'room_join' }), count })
  .meta({ id: 'EventTypeCount', description: 'Lifetime number of contact events of one type' });

const TopBookingPage = z
  .object({ id, title: z.string(), slug: z.string(), count: count.describe('Lifetime number of bookings') })
  .meta({ id: 'TopBookingPage' });

const ContactsDay = z
  .object({ date, count })
  .meta({ id: 'ContactsDay', description: 'Number of contacts created on a day, at least 1' });

const TopRoom = z
  .object({
    id,
    name: z.string().describe('The slug'),
    display_name: z.string().nullable(),
    count: count.describe('Lifetime number of joins'),
  })
  .meta({ id: 'TopRoom' });

export const Analytics = z
  .object({
    kpis: Kpis,
    activityTimeline: z
      .array(ActivityDay)
      .describe('The last 30 days, oldest first; days without bookings or room joins are omitted'),
    eventTypeBreakdown: z.array(EventTypeCount).describe('Ordered by count, descending'),
    topBookingPages: z.array(TopBookingPage).describe('At most 5, ordered by count, descending'),
    newContactsTimeline: z
      .array(ContactsDay)
      .describe('The last 30 days, oldest first; days without new contacts are omitted'),
    topRooms: z.array(TopRoom).describe('At most 5, ordered by count, descending'),
  })
  .meta({ id: 'Analytics', description: 'The analytics of a workspace' });
export type Analytics = z.infer<typeof Analytics>;
