/** What is said about recordings. One place, since people consent to these words. */
import type { Room } from './types.ts';

export function sayRecorded(name: string | null): string {
  return name === null ? 'This meeting is being recorded' : `This meeting is being recorded by ${name}`;
}

/** Who will see a recording of the room. */
export function sayWhoWillSee({ recordings_visible_to }: Pick<Room, 'recordings_visible_to'>): string {
  return recordings_visible_to === 'members'
    ? 'All members of the workspace of this room can watch the recording.'
    : 'Only the hosts of this room can watch the recording: the person it belongs to, the owner and the admins.';
}
