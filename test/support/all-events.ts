/** The events that a webhook can subscribe to, in the order of the catalogue, written once more by hand. */
export const ALL_EVENTS = [
  'room.created',
  'room.joined',
  'room.left',
  'recording.started',
  'recording.completed',
  'member.joined',
  'member.left',
  'library_item.uploaded',
  'library_item.deleted',
  'booking.created',
  'booking.rescheduled',
  'booking.cancelled',
  'contact.created',
];
