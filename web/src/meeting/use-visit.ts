import { isLynxroomError } from '@lynxroom/client';
import { createMeeting, type EndReason, type Meeting, type MeetingSnapshot } from '@lynxroom/client/meeting';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useTexts } from '../languages/texts.ts';
import { client } from '../lib/client.ts';
import { showError } from '../lib/toasts.ts';
import { callUntilAnswered } from './call-until-answered.ts';
import { endLink, forgetLink, readLink } from './entry-link.ts';
import type { LocalMedia, LocalMediaState } from './local-media.ts';
import type { Guest, Room } from './types.ts';
import { readVisit, storeEnd, storeVisit } from './visit-storage.ts';

export type VisitEnd = { reason: EndReason; error: unknown };

export type Visit = {
  /** null before the person joins. */
  meeting: Meeting | null;
  snapshot: MeetingSnapshot | null;
  /** Not in the meeting yet: in the lobby, or waiting. */
  isBefore: boolean;
  /** The page asks whether the visit that it remembers goes on. */
  isRestoring: boolean;
  end: VisitEnd | null;
  /** Why joining was refused. */
  error: unknown;
  /** Whether the page said before joining that the meeting is being recorded. */
  wasTold: boolean;
  join: (guest: Guest) => void;
  leave: () => void;
  comeBack: () => void;
  joinAgain: () => void;
};

/** Loaded only where a LiveKit server carries the media. */
const loadLivekit = () => import('./livekit-room.ts');

/** One visit after another. A reload goes on with a visit that has not ended. */
export function useVisit(room: Room, media: LocalMedia, { tracks, isOn }: LocalMediaState): Visit {
  const { write } = useTexts();
  const [meeting, setMeeting] = useState<Meeting | null>(null);
  const [isRestoring, setIsRestoring] = useState(() => readVisit(room.name)?.hasEnded === false);
  const [end, setEnd] = useState<VisitEnd | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [wasTold, setWasTold] = useState(false);
  const lastError = useRef<unknown>(null);
  const snapshot = useSyncExternalStore(
    (listener) => meeting?.on('change', listener) ?? (() => undefined),
    () => meeting?.snapshot ?? null,
  );

  const isRestored = useRef(false);
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  useEffect(() => {
    if (isRestored.current) return;
    // Once for each load of the page: later, the stored visit is that of this page.
    isRestored.current = true;
    const stored = readVisit(room.name);
    if (stored?.hasEnded === false) void restore(stored.token);
  });

  useEffect(() => {
    if (meeting === null) return;
    void meeting.setTrack('microphone', tracks.microphone);
  }, [meeting, tracks.microphone]);
  useEffect(() => {
    if (meeting === null) return;
    void meeting.setTrack('camera', tracks.camera);
  }, [meeting, tracks.camera]);
  useEffect(() => meeting?.setMuted('microphone', !isOn.microphone), [meeting, isOn.microphone]);

  // Before the meeting, the page says that it is being recorded.
  const isBefore = snapshot === null || ['idle', 'joining', 'waiting'].includes(snapshot.state);
  useEffect(() => {
    if (isBefore && !isRestoring && end === null && room.recorded === 1) setWasTold(true);
  }, [isBefore, isRestoring, end, room.recorded]);

  const hasEnded = snapshot?.state === 'ended';
  const reason = snapshot?.endReason ?? 'error';
  useEffect(() => {
    if (!hasEnded) return;
    storeEnd(room.name);
    media.stop();
    setMeeting(null);
    setEnd({ reason, error: lastError.current });
  }, [hasEnded, reason, room.name, media]);

  // The document may only connect to the server that carried the media when it was loaded.
  const [mediaAtLoad] = useState(room.media);
  const isLivekit = snapshot?.media?.kind === 'livekit';
  useEffect(() => {
    if (isLivekit && mediaAtLoad !== 'livekit') location.reload();
  }, [isLivekit, mediaAtLoad]);

  // The camera of a page that sends nothing is off.
  const sendsNothing = snapshot?.state === 'elsewhere' || (!isBefore && snapshot?.media?.kind === 'none');
  useEffect(() => {
    if (sendsNothing) media.stop();
  }, [sendsNothing, media]);

  /** A network or a service that is away for a moment ends no visit. */
  async function restore(token: string): Promise<void> {
    const isOver = (): boolean => isGone.current;
    const ask = () => client.participants.presence.mutate({ roomName: room.name, token });
    try {
      const answer = await callUntilAnswered(ask, { isOver });
      if (answer === null) return;
      const { status, end_reason, name } = answer.participant;
      if (status === 'waiting' || status === 'joined')
        await callUntilAnswered(() => enter({ name, email: '' }, token), { isOver });
      else finish({ reason: end_reason ?? status, error: null });
    } catch (failure) {
      finish({ reason: 'error', error: failure });
    }
    setIsRestoring(false);
  }

  function finish(ending: VisitEnd): void {
    storeEnd(room.name);
    media.stop();
    setEnd(ending);
  }

  /** Rejects if the service does not let the person in. */
  async function enter({ name, email }: Guest, token: string | undefined): Promise<void> {
    const guest = { name, ...(email !== '' && { email }) };
    const carriers = mediaAtLoad === 'livekit' ? { loadLivekit } : {};
    const next = createMeeting(client, { roomName: room.name, token, ...guest, ...carriers });
    next.on('muted', (kind) => {
      if (kind === 'microphone' || kind === 'camera') void media.setOn(kind, false);
    });
    next.on('error', (failure) => {
      lastError.current = failure;
    });
    lastError.current = null;
    setMeeting(next);
    try {
      await next.join();
      if (next.token !== null) storeVisit(room.name, next.token);
      endLink(room.name);
    } catch (failure) {
      setMeeting(null);
      throw failure;
    }
  }

  function join(guest: Guest): void {
    setError(null);
    const link = readLink(room.name);
    enter(guest, link ?? readVisit(room.name)?.token).catch((failure: unknown) => {
      if (isLynxroomError(failure) && [400, 404].includes(failure.status)) forgetLink(room.name);
      setError(failure);
    });
  }

  return {
    meeting,
    snapshot,
    isBefore,
    isRestoring,
    end,
    error,
    wasTold,
    join,
    leave: () => void meeting?.leave().catch((failure: unknown) => showError(write('room.notToldService'), failure)),
    comeBack() {
      void media.start();
      void meeting?.comeBack().catch((failure: unknown) => showError(write('room.notComeBack'), failure));
    },
    joinAgain() {
      setEnd(null);
      setError(null);
      setWasTold(false);
      void media.start();
    },
  };
}
