import type { Meeting, MeetingSnapshot } from '@lynxroom/client/meeting';
import { useState } from 'react';
import { useTexts } from '../languages/texts.ts';
import { client } from '../lib/client.ts';
import { showError } from '../lib/toasts.ts';
import { canRecord, type RecorderState, useRecorder } from './recorder/index.ts';
import type { Room } from './types.ts';

export type RecordButton = { isRecording: boolean; isPending: boolean; toggle: () => void };

/** Starts another recording after one that failed: by the server, or by this page. Null for what does not exist. */
export type RecordAgain = { onServer: (() => void) | null; here: (() => void) | null };

/**
 * What the button "Record" does. It is null where there is nothing to press: the browser cannot record, the room does
 * not let this person, or somebody else records and this person is no host.
 */
export function useRecordButton(
  room: Room,
  meeting: Meeting,
  { recording, participant, media }: MeetingSnapshot,
): { recorder: RecorderState; button: RecordButton | null; again: RecordAgain | null } {
  const { state, start, stop } = useRecorder(meeting, client, room.name);
  const { write } = useTexts();
  const [isStarting, setIsStarting] = useState(false);
  const isHost = participant?.is_host === 1;
  /** The server records, and this page captures nothing. */
  const hasEgress = media?.kind === 'livekit' && media.egress === 1;

  function startEgress(): void {
    setIsStarting(true);
    client.recordings.startInRoom
      .mutate({ roomName: room.name, token: meeting.token ?? '', egress: 1 })
      .catch((error: unknown) => showError(write('recording.notStarted'), error))
      .finally(() => setIsStarting(false));
  }

  function stopElsewhere(recordingId: number): void {
    client.recordings.stopInRoom
      .mutate({ roomName: room.name, token: meeting.token ?? '', recordingId })
      .catch((error: unknown) => showError(write('recording.notStopped'), error));
  }

  function toButton(): RecordButton | null {
    const isRecording = state.status === 'recording';
    const isOwn = recording !== null && recording.participant_id === participant?.id;
    if (!isRecording && recording !== null && (hasEgress || !isOwn)) {
      const toggle = (): void => stopElsewhere(recording.id);
      return isHost || isOwn ? { isRecording: true, isPending: false, toggle } : null;
    }
    if (!isRecording && !mayRecord(room, participant)) return null;
    if (hasEgress && !isRecording)
      return { isRecording, isPending: isStarting || state.status === 'starting', toggle: startEgress };
    if (!canRecord()) return null;
    return {
      isRecording,
      isPending: state.status === 'starting',
      toggle: () => void (isRecording ? stop() : start()),
    };
  }

  function toAgain(): RecordAgain | null {
    const isBusy = recording !== null || isStarting || state.status === 'starting' || state.status === 'recording';
    const again = { onServer: hasEgress ? startEgress : null, here: canRecord() ? () => void start() : null };
    const isPossible = again.onServer !== null || again.here !== null;
    return isPossible && !isBusy && mayRecord(room, participant) ? again : null;
  }

  return { recorder: state, button: toButton(), again: toAgain() };
}

function mayRecord({ who_may_record }: Room, participant: MeetingSnapshot['participant']): boolean {
  if (typeof participant?.may_record === 'number') return participant.may_record === 1;
  if (who_may_record === 'everyone' || participant?.is_host === 1) return true;
  return who_may_record === 'members' && participant?.is_member === 1;
}
