import type { Tx } from '../../db/client.ts';

export type NewContactEvent = {
  workspaceId: number;
  /** `room_join`, `booking` or another name in snake_case, of at most 64 characters. */
  type: string;
  contactId: number | null;
  /** The room that was joined. */
  roomId: number | null;
  /** The page that was booked. */
  bookingPageId: number | null;
  at: Date;
};

/**
 * Writes what a contact (or somebody unknown) did; triggers add it to the sums of analytics. The workspace's next event
 * waits for the commit: call it last. Throws a foreign key violation for a workspace that was deleted meanwhile.
 */
export async function recordContactEvent(
  tx: Tx,
  { workspaceId, type, contactId, roomId, bookingPageId, at }: NewContactEvent,
): Promise<void> {
  await tx.contactEvent.createMany({ data: [{ workspaceId, type, contactId, roomId, bookingPageId, createdAt: at }] });
}
