import type { Tx } from '../../db/client.ts';

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

/**
 * Records an event of a contact, or of an unknown person if `contactId` is null. A trigger queues the update of the
 * analytics counters. Throws a foreign key violation if the workspace was deleted.
 */
export function recordContactEvent(tx: Tx, { contactId, ...event }: NewContactEvent): Promise<void> {
  return recordContactEvents(tx, event, [contactId]);
}

/** Records the same event for several contacts, as `recordContactEvent` does. */
export async function recordContactEvents(
  tx: Tx,
  { at, ...event }: Omit<NewContactEvent, 'contactId'>,
  contactIds: readonly (number | null)[],
): Promise<void> {
  await tx.contactEvent.createMany({ data: contactIds.map((contactId) => ({ ...event, contactId, createdAt: at })) });
}
