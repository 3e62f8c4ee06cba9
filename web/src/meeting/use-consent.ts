import type { MeetingParticipant, MeetingSnapshot, RunningRecording } from '@lynxroom/client/meeting';
import { useState } from 'react';
import { readToldRecording, storeToldRecording } from './visit-storage.ts';

/** The recording about which the person has to be asked; null if there is none. `accept` answers "Stay". */
export type Consent = { asked: RunningRecording | null; accept: () => void };

/**
 * Asks everybody once for each recording, except the person who records. `wasTold`: the page has said before they joined
 * that the meeting is being recorded.
 */
export function useConsent(roomName: string, snapshot: MeetingSnapshot, wasTold: boolean): Consent {
  const [toldId, setToldId] = useState(() => readToldRecording(roomName));
  const { recording, participant } = snapshot;
  const isAsked = recording !== null && recording.id !== toldId && !isKnown(recording, participant, wasTold);
  return {
    asked: isAsked ? recording : null,
    accept() {
      if (recording === null) return;
      storeToldRecording(roomName, recording.id);
      setToldId(recording.id);
    },
  };
}

/** Who records knows it. Of a recording that ran before they joined, people were told if the page said so. */
function isKnown(recording: RunningRecording, participant: MeetingParticipant | null, wasTold: boolean): boolean {
  if (participant !== null && recording.participant_id === participant.id) return true;
  return wasTold && recording.started_at <= (participant?.joined_at ?? 0);
}
