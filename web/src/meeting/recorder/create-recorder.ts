/** Records a meeting, and sends the recording while it is made. */

import { type Client, isLynxroomError, type Outputs } from '@lynxroom/client';
import { type TextOf, textOf } from '../../../../src/languages/catalogue.ts';
import { findRecordingType } from './capture.ts';
import { createDeviceSpool, createSpoolName, lockOf } from './device-spools.ts';
import { outbox } from './outbox.ts';
import { type Session, startSession } from './run-session.ts';
import { describeStart } from './texts.ts';
import type { RecordedMeeting, RecordedPerson, Recorder, RecorderState } from './types.ts';

/** The maximum size of a recording by default. */
const DEFAULT_MAX_BYTES = 2 * 1024 ** 3;
/** In these states of the meeting, this page takes part in it. */
const PRESENT = new Set(['joined', 'reconnecting']);

export const IDLE: RecorderState = {
  status: 'idle',
  recordingId: null,
  startedAt: null,
  capturedBytes: 0,
  sentBytes: 0,
  notice: null,
  error: null,
  result: null,
  earlier: 0,
};

export type RecorderOptions = { meeting: RecordedMeeting; client: Client; roomName: string };

type Started = Outputs['recordings']['startInRoom'];

/**
 * Creates the recorder of a meeting, and begins to send what earlier pages have left. A recording ends when it is
 * stopped here or by a host, when the page no longer takes part in the meeting, and at its maximum size.
 */
export function createRecorder({ meeting, client, roomName }: RecorderOptions): Recorder {
  const listeners = new Set<() => void>();
  let state = { ...IDLE, earlier: outbox.getState().count };
  /** The recording that is captured here now. */
  let current: Session | null = null;
  /** Whether the service has said that it runs. Before that, its absence does not mean that it has ended. */
  let isConfirmed = false;
  let isDisposed = false;
  /** The last recording of this page: its state is what the page shows. */
  let shownId: number | null = null;
  /** The last recording of this page, until all of it was sent. */
  let unsent: Session | null = null;

  function change(part: Partial<RecorderState>): void {
    state = { ...state, ...part };
    for (const listener of listeners) listener();
  }

  /** What is still being sent goes on without this recorder. */
  function handOver(): void {
    shownId = null;
    if (unsent !== null) outbox.add(unsent.sent, describeResult());
    unsent = null;
  }

  function describeResult(): TextOf {
    return textOf(meeting.participant?.is_member === 1 ? 'recorder.sentToMember' : 'recorder.sentToGuest');
  }

  async function start(): Promise<void> {
    if (state.status === 'starting' || state.status === 'recording') return;
    handOver();
    change({ ...IDLE, earlier: state.earlier, status: 'starting' });
    let startedId: number | null = null;
    try {
      const { extension } = findRecordingType();
      const name = createSpoolName();
      const started = await startInRoom();
      startedId = started.recording.id;
      const running = Promise.withResolvers<void>();
      // The lock tells other pages that this one sends the recording.
      void withLock(name, () => record(started, name, extension, running.resolve)).catch(running.reject);
      await running.promise;
    } catch (error) {
      // What the service has started would run on without a page that captures it.
      if (startedId !== null) await stopInRoom(startedId);
      change({ status: 'idle', error: describeStart(error) });
    }
  }

  /** A recording of ours that is still running has lost its page: the new one takes its place. */
  async function startInRoom(): Promise<Started> {
    const input = { roomName, token: meeting.token ?? '' };
    try {
      return await client.recordings.startInRoom.mutate(input);
    } catch (error) {
      const { recording, participant } = meeting;
      const isOwn = recording !== null && recording.participant_id === participant?.id;
      if (!isOwn || !isLynxroomError(error) || error.status !== 409) throw error;
      await client.recordings.stopInRoom.mutate({ ...input, recordingId: recording.id });
      return client.recordings.startInRoom.mutate(input);
    }
  }

  /** Resolves when the recording was sent, or cannot be. Calls `onRunning` as soon as it is being captured. */
  async function record(
    { recording: { id }, upload_token: uploadToken, ...limits }: Started,
    name: string,
    extension: 'mp4' | 'webm',
    onRunning: () => void,
  ): Promise<void> {
    const spool = await createDeviceSpool(name, { recordingId: id, roomName, uploadToken, extension });
    const changeShown = (part: Partial<RecorderState>): void => {
      if (shownId === id) change(part);
    };
    let session: Session;
    shownId = id;
    try {
      session = await startSession({
        client,
        spool,
        maxBytes: readMaxBytes(limits),
        readPeople: () => listPeople(meeting),
        onNotice: (notice) => changeShown({ notice }),
        onCaptured(error) {
          current = null;
          void stopInRoom(id);
          changeShown({ status: 'sending', startedAt: null, error });
        },
        // Pages show it only while they wait for it.
        onProgress: (progress) => state.status === 'sending' && changeShown(progress),
      });
    } catch (error) {
      await spool.clear();
      throw error;
    }
    current = session;
    unsent = session;
    isConfirmed = false;
    changeShown({ status: 'recording', recordingId: id, startedAt: Date.now() });
    // The browser asks whether to leave the page, which would end what is recorded and sent.
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', warn);
    onRunning();
    follow();
    if (isDisposed) handOver();
    const error = await session.sent;
    removeEventListener('beforeunload', warn);
    if (unsent === session) unsent = null;
    const end = error === null ? { result: describeResult() } : { error };
    changeShown({ status: 'idle', recordingId: null, notice: null, ...end });
  }

  /** If the service cannot be reached, the recording ends when its upload is complete. */
  async function stopInRoom(recordingId: number): Promise<void> {
    await client.recordings.stopInRoom.mutate({ roomName, token: meeting.token ?? '', recordingId }).catch(() => {});
  }

  /** Ends what the meeting has ended. */
  function follow(): void {
    const { recording } = meeting;
    if (meeting.state === 'joined' && recording !== null && outbox.takeOrphan(roomName, recording.id))
      void stopInRoom(recording.id);
    if (current === null) return;
    if (isDisposed || !PRESENT.has(meeting.state)) return void current.stop(null);
    if (recording?.id === current.recordingId) isConfirmed = true;
    else if (isConfirmed && meeting.state === 'joined') void current.stop(textOf('recorder.stoppedElsewhere'));
  }

  const removals = [
    meeting.on('change', follow),
    outbox.addRecorder(),
    outbox.subscribe(() => {
      const { count: earlier } = outbox.getState();
      if (earlier !== state.earlier) change({ earlier });
      follow();
    }),
  ];
  outbox.open();

  return {
    getState: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start,
    async stop() {
      await current?.stop(null);
    },
    dispose() {
      isDisposed = true;
      follow();
      handOver();
      for (const remove of removals) remove();
    },
  };
}

/** Everybody in the meeting, oneself first. */
function listPeople({ participant, local, peers }: RecordedMeeting): RecordedPerson[] {
  const readOwn = (kind: keyof typeof local): MediaStreamTrack | null =>
    local[kind].isMuted ? null : local[kind].track;
  const own = {
    id: participant?.id ?? 0,
    name: participant?.name ?? '',
    microphone: readOwn('microphone'),
    camera: readOwn('camera'),
    screen: readOwn('screen'),
    screenAudio: readOwn('screenAudio'),
  };
  return [own, ...peers];
}

/** During an upgrade, a process of an earlier version may answer without it. */
function readMaxBytes(limits: object): number {
  return 'max_bytes' in limits && typeof limits.max_bytes === 'number' ? limits.max_bytes : DEFAULT_MAX_BYTES;
}

/** Over plain HTTP, browsers have no locks, and keep no files that another page could send. */
function withLock(name: string, run: () => Promise<void>): Promise<void> {
  return navigator.locks === undefined ? run() : navigator.locks.request(lockOf(name), run);
}
