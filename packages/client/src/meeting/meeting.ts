import type { Client } from '@lynxroom/client';
import type { Meeting, MeetingOptions } from './types.ts';

/**
 * Creates a meeting in the room `options.roomName`, which is joined by `join()`. It needs a browser with WebRTC, and a
 * client that is signed in, or `options.name` for a guest.
 */
export function createMeeting(_client: Client, options: MeetingOptions): Meeting {
  throw new Error(`The meeting in ${options.roomName} cannot be joined: the module is being written`);
}
