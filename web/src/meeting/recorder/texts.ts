/** What the recorder says to the person. */
import { isLynxroomError } from '@lynxroom/client';
import { Disconnected } from './send-spool.ts';

export const NOT_KEPT =
  'This browser cannot keep the recording on this device. If the page is closed while the connection is interrupted, ' +
  'its last part is lost.';
export const NO_SOUND =
  'The recording has no sound, because this browser cannot mix it: it has no sound output, or blocks it.';
export const DEVICE_FAILED =
  'This device can keep no more of the recording, perhaps because its storage is full. Do not close the page until ' +
  'everything has been sent.';
export const ENDS_SOON = 'The recording reaches its maximum size in about five minutes. It ends by itself then.';
export const REACHED_MAXIMUM = 'The recording has reached its maximum size, and has ended.';
export const MEMORY_FULL =
  'The recording has ended, because the connection has been interrupted for too long. What was recorded is sent when ' +
  'the connection is back. Do not close the page until then.';
export const STOPPED_ELSEWHERE = 'A host has stopped the recording.';
export const SENT_TO_MEMBER =
  'The recording was sent. It is on the page of the room, under “Recordings”, as soon as it has been prepared.';
export const SENT_TO_GUEST =
  'The recording was sent. The hosts of this room find it on the page of the room, as soon as it has been prepared.';
export const EARLIER_SENT = 'A recording that was left on this device has been sent.';

/** Why a recording could not start. */
export function describeStart(error: unknown): string {
  if (!isLynxroomError(error)) return `The recording could not start: ${toMessage(error)}`;
  if (error.status === 409 && /already running/.test(error.message))
    return 'Somebody is already recording this meeting. Wait until that recording has ended.';
  if (error.status === 429) return `The recording could not start. ${error.message}.`;
  if (error.status === 403) return `You may not record this meeting. ${error.message}.`;
  return `The recording could not start. ${error.message}.`;
}

/** Why sending does not go on at the moment. */
export function describeTrouble(error: Error): string {
  if (error instanceof Disconnected)
    return 'The connection is interrupted. The recording is kept until it can be sent.';
  return `The service does not take the recording at the moment: ${error.message}. It is kept, and tried again.`;
}

/** Why the recording cannot be sent at all. */
export function describeRefusal(error: unknown): string {
  return `The recording could not be sent: ${toMessage(error)}.`;
}

/** Why the capture ended by itself. */
export function describeFailure(error: Error): string {
  return `The recording has ended, because of an error: ${error.message}. What was recorded is still sent.`;
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : 'something went wrong';
}
