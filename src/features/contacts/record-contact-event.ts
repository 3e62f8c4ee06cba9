import { int, nullable, type Sql, statement, text, time } from '../../db/statements.ts';

export type NewContactEvent = {
  workspaceId: number;
  /** A snake_case name of at most 64 characters, such as `room_join` or `booking`. */
  type: string;
  contactId: number | null;
  /** The room that the contact joined. */
  roomId: number | null;
  /** The page of the booking. */
  bookingPageId: number | null;
  at: Date;
};

const insertContactEvent = statement('insert-contact-event', {
  params: {
    workspaceId: int,
    type: text,
    contactId: nullable(int),
    roomId: nullable(int),
    bookingPageId: nullable(int),
    at: time,
  },
  sql: `
    insert into contact_events (workspace_id, type, contact_id, room_id, booking_page_id, created_at)
    values ($workspaceId, $type, $contactId, $roomId, $bookingPageId, $at)`,
});

/**
 * Records an event of a contact, or of an unknown person if `contactId` is null. A trigger queues the update of the
 * analytics counters. Throws a foreign key violation if the workspace was deleted.
 */
export async function recordContactEvent(sql: Sql, event: NewContactEvent): Promise<void> {
  await sql.run(insertContactEvent, event);
}
