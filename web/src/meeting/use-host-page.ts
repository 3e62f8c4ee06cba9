import type { MeetingSnapshot } from '@lynxroom/client/meeting';
import { useEffect, useRef } from 'react';
import { useTexts } from '../languages/texts.ts';
import { isEmbedded } from '../lib/embedded.ts';
import { describeError } from '../lib/errors.ts';
import { onWish, tellHostPage } from '../lib/host-page.ts';
import type { LocalMedia } from './local-media.ts';
import { sayFailed } from './recording-texts.ts';
import type { Visit } from './use-visit.ts';

/** Tells the page that shows the room in a frame about the visit, and does what it asks for. */
export function useHostPage({ snapshot, end, error, leave }: Visit, media: LocalMedia): void {
  const { write } = useTexts();
  const isRecording = isInMeeting(snapshot) && snapshot.recording !== null;
  const failure = write(sayFailed({ isRecorded: isRecording }));
  const latest = useRef({ leave, media, failure });
  useEffect(() => {
    latest.current = { leave, media, failure };
  });
  useEffect(() => {
    if (!isEmbedded) return;
    return onWish((wish) => {
      if (wish.command === 'leave') latest.current.leave();
      if (wish.command === 'mute') void latest.current.media.setOn(wish.kind, !wish.isMuted);
    });
  }, []);

  const { id, name } = (isInMeeting(snapshot) && snapshot.participant) || { id: null, name: '' };
  useEffect(() => {
    if (id !== null) tellHostPage({ event: 'joined', participant: { id, name } });
  }, [id, name]);

  const reason = end?.reason;
  useEffect(() => {
    if (reason !== undefined) tellHostPage({ event: 'left', reason });
  }, [reason]);

  const wasRecording = useRef(false);
  useEffect(() => {
    if (isRecording === wasRecording.current) return;
    wasRecording.current = isRecording;
    tellHostPage({ event: 'recording', isRecording });
  }, [isRecording]);

  const failedId = (isInMeeting(snapshot) && snapshot.failedRecording?.id) || null;
  useEffect(() => {
    if (failedId !== null) tellHostPage({ event: 'error', code: 'RECORDING_FAILED', message: latest.current.failure });
  }, [failedId]);

  useEffect(() => {
    if (error === null) return;
    const { message, code } = describeError(error);
    tellHostPage({ event: 'error', code, message });
  }, [error]);
}

function isInMeeting(snapshot: MeetingSnapshot | null): snapshot is MeetingSnapshot {
  return snapshot !== null && ['joined', 'reconnecting'].includes(snapshot.state);
}
