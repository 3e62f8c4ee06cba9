/** The subject of an event. Messages about one subject are sent to a webhook in the order of their events. */
import { z } from 'zod';
import { isLoggedType, loggedEvents } from './catalogue.ts';

const Data = z.record(z.string(), z.unknown());

/**
 * Returns a string such as `room_id:12`, from the type and the `data` of a logged event. Returns null if this version
 * does not know the type. The order of its messages is then undefined.
 */
export function subjectOf(type: string, data: unknown): string | null {
  if (!isLoggedType(type)) return null;
  const field = loggedEvents[type].subject;
  return `${field}:${Data.parse(data)[field]}`;
}
