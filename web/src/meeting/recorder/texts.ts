/** What the recorder says to the person. The page that shows it knows the language. */
import { isLynxroomError } from '@lynxroom/client';
import { type TextOf, textOf } from '../../../../src/languages/catalogue.ts';
import { describeError } from '../../lib/errors.ts';
import { Disconnected } from './send-spool.ts';

/** Why a recording could not start. */
export function describeStart(error: unknown): TextOf {
  if (isLynxroomError(error) && error.status === 409 && /already running/.test(error.message))
    return textOf('recorder.alreadyRunning');
  if (isLynxroomError(error) && error.status === 403) return textOf('recorder.mayNot', toReason(error));
  return textOf('recorder.notStarted', toReason(error));
}

/** Why sending does not go on at the moment. */
export function describeTrouble(error: Error): TextOf {
  return error instanceof Disconnected ? textOf('recorder.disconnected') : textOf('recorder.notTaken', toReason(error));
}

/** Why the recording cannot be sent at all. */
export function describeRefusal(error: unknown): TextOf {
  return textOf('recorder.notSent', toReason(error));
}

/** Why the capture ended by itself. */
export function describeFailure(error: Error): TextOf {
  return textOf('recorder.failed', toReason(error));
}

function toReason(error: unknown): { reason: string } {
  return { reason: describeError(error).message };
}
