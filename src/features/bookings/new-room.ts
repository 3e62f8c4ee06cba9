/** The room of a meeting that is being booked. */
import { toUnixSeconds } from '../../core/time.ts';
import type { NewRoom } from '../rooms/insert-room.ts';

const MAX_DISPLAY_NAME = 100;

/** Returns the scheduled room of the host of the page. */
export function toNewRoom({
  page: { workspaceId, userId, userName, title },
  guestName,
  startsAt,
  roomName,
  at,
}: {
  page: { workspaceId: number; userId: number; userName: string; title: string };
  guestName: string;
  startsAt: Date;
  roomName: string;
  at: Date;
}): NewRoom {
  return {
    workspaceId,
    name: roomName,
    host: { userId, name: userName },
    settings: {
      // Room names can be guessed, so guests wait until the host admits them.
      waiting_room_enabled: 1,
      scheduled_at: toUnixSeconds(startsAt),
      display_name: toDisplayName(title, guestName),
    },
    at,
  };
}

/** Cuts the title, not the name, so that erasing the guest finds it. */
function toDisplayName(title: string, name: string): string {
  const separator = ': ';
  const left = MAX_DISPLAY_NAME - separator.length - [...name].length;
  return left > 0 ? [...title].slice(0, left).join('').trim() + separator + name : name;
}
