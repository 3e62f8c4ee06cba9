/** One recording, from its first picture until the service has all of it. */

import type { Client } from '@lynxroom/client';
import { type TextOf, textOf } from '../../../../src/languages/catalogue.ts';
import { startCapture } from './capture.ts';
import { sendPoster } from './poster.ts';
import { estimateSecondsLeft, NOTICE_SECONDS } from './rate.ts';
import { sendSpool } from './send-spool.ts';
import type { Spool } from './spool.ts';
import { describeFailure, describeRefusal, describeTrouble } from './texts.ts';
import type { RecordedPerson } from './types.ts';

/** How much is kept in memory, if the device keeps nothing: some minutes. */
const MAX_BYTES_IN_MEMORY = 64 * 1024 * 1024;
/** The poster is taken at the first of these times, and again at the second, when more people have arrived. */
const POSTER_SECONDS = [5, 60];

export type SessionOptions = {
  client: Client;
  spool: Spool;
  maxBytes: number;
  readPeople(): readonly RecordedPerson[];
  /** What the person should know while it is recorded or sent; null when it is over. */
  onNotice(notice: TextOf | null): void;
  /** The capture has ended, and the rest is being sent. `reason` tells the person why, if they did not stop it. */
  onCaptured(reason: TextOf | null): void;
  onProgress(progress: { sentBytes: number; capturedBytes: number }): void;
};

export type Session = {
  readonly recordingId: number;
  /** Ends the capture, and tells the person why. Resolves after its last bytes are in the spool. */
  stop(reason: TextOf | null): Promise<void>;
  /** Resolves when all of it was sent, or cannot be: with the reason, for the person. Never rejects. */
  readonly sent: Promise<TextOf | null>;
};

/** Begins to capture and to send. Rejects if the browser cannot capture. */
export async function startSession({ client, spool, maxBytes, ...options }: SessionOptions): Promise<Session> {
  const { readPeople, onNotice, onCaptured, onProgress } = options;
  const { recordingId, uploadToken } = spool.info;
  const startedAt = performance.now();
  let capturedBytes = 0;
  let sentBytes = 0;
  /** The notices of the moment, the most important one first. */
  const notices: Record<'end' | 'trouble' | 'device' | 'sound', TextOf | null> = {
    end: null,
    trouble: null,
    device: null,
    sound: null,
  };
  let ending: Promise<void> | null = null;

  function notify(topic: keyof typeof notices, text: TextOf | null): void {
    if (isSame(notices[topic], text)) return;
    notices[topic] = text;
    onNotice(notices.end ?? notices.trouble ?? notices.device ?? notices.sound);
  }

  function add(bytes: Blob): void {
    // A player plays a file that ends early. The service refuses one that is too large.
    const part = bytes.slice(0, maxBytes - capturedBytes);
    capturedBytes += part.size;
    void spool.append(part).then(() => {
      if (!spool.isOnDevice && notices.device === null) notify('device', textOf('recorder.deviceFailed'));
      if (spool.bytesInMemory > MAX_BYTES_IN_MEMORY) void end(textOf('recorder.memoryFull'));
    });
    if (capturedBytes === maxBytes) void end(textOf('recorder.reachedMaximum'));
    const seconds = (performance.now() - startedAt) / 1_000;
    const left = estimateSecondsLeft({ bytes: capturedBytes, seconds }, maxBytes);
    if (left !== null && left <= NOTICE_SECONDS) notify('end', textOf('recorder.endsSoon'));
    onProgress({ sentBytes, capturedBytes });
  }

  /** The first call counts: what follows, such as an error of a recorder that is being stopped, changes nothing. */
  function end(reason: TextOf | null): Promise<void> {
    ending ??= (async () => {
      takePosterAtEnd();
      await capture.stop();
      await spool.append(new Blob());
      spool.finish();
      notify('end', null);
      onCaptured(reason);
    })();
    return ending;
  }

  const capture = await startCapture({
    readPeople,
    onBytes: add,
    onFailure: (error) => void end(describeFailure(error)),
  });

  if (!capture.hasSound) notify('sound', textOf('recorder.noSound'));
  if (!spool.isOnDevice) notify('device', textOf('recorder.notKept'));

  let hasPoster = false;
  const takePoster = (): void => {
    hasPoster = true;
    void sendPoster(client, { recordingId, uploadToken }, capture.canvas);
  };
  const posterTimers = POSTER_SECONDS.map((seconds) => setTimeout(takePoster, seconds * 1_000));
  function takePosterAtEnd(): void {
    for (const timer of posterTimers) clearTimeout(timer);
    if (!hasPoster) takePoster();
  }

  async function send(): Promise<TextOf | null> {
    try {
      await sendSpool({
        spool,
        origin: location.origin,
        fetch: globalThis.fetch.bind(globalThis),
        onProgress(sent) {
          sentBytes = sent;
          onProgress({ sentBytes, capturedBytes });
        },
        onTrouble: (error) => notify('trouble', error && describeTrouble(error)),
      });
      return null;
    } catch (error) {
      // Not a conflict, such as a quota that is reached: it is tried again as long as the page is open.
      await end(null);
      await spool.clear();
      return describeRefusal(error);
    }
  }

  return { recordingId, stop: end, sent: send() };
}

function isSame(one: TextOf | null, other: TextOf | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
