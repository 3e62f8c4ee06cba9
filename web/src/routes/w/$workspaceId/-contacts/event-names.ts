const names: Readonly<Record<string, string>> = {
  booking: 'Meetings booked',
  booking_cancelled: 'Meetings cancelled',
  booking_rescheduled: 'Meetings moved',
  room_join: 'Rooms joined',
};

/** The name of a type of contact events. */
export function nameEvents(type: string): string {
  return names[type] ?? type.replaceAll('_', ' ');
}

const descriptions: Readonly<Record<string, string>> = {
  room_join: 'Joined a room',
  booking: 'Booked a meeting',
  booking_rescheduled: 'Moved a meeting',
  booking_cancelled: 'Cancelled a meeting',
};

/** What somebody did, from the type of the event. */
export function describeEvent(type: string): string {
  return descriptions[type] ?? type.replaceAll('_', ' ');
}
