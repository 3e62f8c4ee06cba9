/** Captures a meeting as a stream of bytes. */
import type { DrawMessage } from './draw-timer.worker.ts';
import { chooseType, type RecordingType } from './recording-type.ts';
import { createSoundMixer } from './sound-mixer.ts';
import { createStage } from './stage.ts';
import type { RecordedPerson } from './types.ts';

const PICTURES_PER_SECOND = 24;
/** Browsers pass on an MP4 up to its last key frame. Both times together are what a crash of the page may lose. */
const TIMESLICE_MS = 500;
const QUALITY = { videoBitsPerSecond: 2_500_000, audioBitsPerSecond: 96_000, videoKeyFrameIntervalDuration: 1_000 };

export type Capture = {
  /** Whether the browser can mix the sound. If not, there is none. */
  readonly hasSound: boolean;
  /** The picture at this moment. */
  readonly canvas: HTMLCanvasElement;
  /** Ends the capture. Resolves after the last bytes were passed on. */
  stop(): Promise<void>;
};

export type CaptureOptions = {
  readPeople(): readonly RecordedPerson[];
  onBytes(bytes: Blob): void;
  /** The browser has ended the capture. */
  onFailure(error: Error): void;
};

/** Throws if the browser can record nothing that the service takes. */
export function findRecordingType(hasSound = true): RecordingType {
  const type = chooseType((mimeType) => MediaRecorder.isTypeSupported(mimeType), hasSound);
  if (type === null) throw new Error('this browser can record neither MP4 nor WebM');
  return type;
}

/** Begins to capture. Rejects if the browser cannot. Call it in the handler of a click. */
export async function startCapture({ readPeople, onBytes, onFailure }: CaptureOptions): Promise<Capture> {
  const stage = createStage();
  const mixer = await createSoundMixer();
  const type = findRecordingType(mixer !== null);
  const timer = new Worker(new URL('./draw-timer.worker.ts', import.meta.url), { type: 'module' });

  const tell = (message: DrawMessage): void => timer.postMessage(message);

  function draw(): void {
    const people = readPeople();
    stage.draw(people);
    mixer?.update(people);
  }

  draw();
  const stream = stage.canvas.captureStream(PICTURES_PER_SECOND);
  if (mixer !== null) stream.addTrack(mixer.track);
  const recorder = new MediaRecorder(stream, { mimeType: type.mimeType, ...QUALITY });
  const ended = Promise.withResolvers<void>();
  let isStopping = false;

  function release(): void {
    timer.terminate();
    for (const track of stream.getTracks()) track.stop();
    mixer?.close();
    stage.close();
    ended.resolve();
  }

  recorder.addEventListener('dataavailable', ({ data }) => onBytes(data));
  recorder.addEventListener('error', (event) => {
    // `as`: browsers send an ErrorEvent here, which the types do not say.
    const { error } = event as ErrorEvent;
    fail(error instanceof Error ? error : new Error('The browser has ended the recording'));
  });
  // It comes after the last bytes, also when the browser ends the recording by itself.
  recorder.addEventListener('stop', () => {
    release();
    if (!isStopping) fail(new Error('The browser has ended the recording'));
  });
  timer.addEventListener('message', () => {
    const startedAt = performance.now();
    try {
      draw();
    } finally {
      tell({ drawnMs: performance.now() - startedAt });
    }
  });
  timer.addEventListener('error', () => fail(new Error('The browser cannot draw the recording')));

  function fail(error: Error): void {
    if (isStopping) return;
    isStopping = true;
    if (recorder.state !== 'inactive') recorder.stop();
    onFailure(error);
  }

  recorder.start(TIMESLICE_MS);
  tell({ everyMs: 1_000 / PICTURES_PER_SECOND });
  return {
    hasSound: mixer !== null,
    canvas: stage.canvas,
    stop() {
      isStopping = true;
      if (recorder.state !== 'inactive') recorder.stop();
      return ended.promise;
    },
  };
}
