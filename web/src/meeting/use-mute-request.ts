import type { Meeting } from '@lynxroom/client/meeting';
import { useEffect, useState } from 'react';

/** The name of the host who has asked everybody to mute; null if nobody has, or the person has answered. */
export function useMuteRequest(meeting: Meeting, isMicrophoneOn: boolean): { by: string | null; answer: () => void } {
  const [by, setBy] = useState<string | null>(null);
  // Who is muted has nothing to answer.
  useEffect(
    () => (isMicrophoneOn ? meeting.on('mute-requested', ({ name }) => setBy(name)) : setBy(null)),
    [meeting, isMicrophoneOn],
  );
  return { by, answer: () => setBy(null) };
}
