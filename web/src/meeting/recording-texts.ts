/** What is said about recordings. One place, since people consent to these words. */
import type { TextKey, WriteText } from '../../../src/languages/catalogue.ts';
import type { Room } from './types.ts';

export function sayRecorded(write: WriteText, name: string | null): string {
  return name === null ? write('recording.running') : write('recording.runningBy', { name });
}

/** What is said to everybody when a recording has failed. `isRecorded`: another one is running. */
export function sayFailed({ isRecorded }: { isRecorded: boolean }) {
  return (isRecorded ? 'recording.failedEarlier' : 'recording.failed') satisfies TextKey;
}

/** Who will see a recording of the room. */
export function whoWillSee({ recordings_visible_to }: Pick<Room, 'recordings_visible_to'>) {
  const key = recordings_visible_to === 'members' ? 'recording.membersSee' : 'recording.hostsSee';
  return key satisfies TextKey;
}
