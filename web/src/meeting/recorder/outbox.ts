/**
 * The recordings that this page sends without a recorder: what earlier pages have left, and those whose meeting this
 * page has left. There is one outbox for a page.
 */
import { type TextOf, textOf } from '../../../../src/languages/catalogue.ts';
import { sendEarlier } from './earlier.ts';

export type OutboxState = {
  /** How many recordings are being sent. */
  readonly count: number;
  /** What became of the last one; null if nothing was sent, or it was dismissed. */
  readonly message: TextOf | null;
  /** Whether a recorder shows this already. */
  readonly hasRecorder: boolean;
};

const listeners = new Set<() => void>();
let state: OutboxState = { count: 0, message: null, hasRecorder: false };
let recorders = 0;
let isOpen = false;
/** Recordings of earlier pages by room. Nobody captures them any more. */
const orphans: { recordingId: number; roomName: string }[] = [];

function change(part: Partial<OutboxState>): void {
  state = { ...state, ...part };
  for (const listener of listeners) listener();
}

export const outbox = {
  getState: (): OutboxState => state,

  /** Returns a function that removes the listener. */
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },

  /** Begins to send what earlier pages have left, once for each load of the page. */
  open(): void {
    if (isOpen) return;
    isOpen = true;
    void sendEarlier({
      onFound: ({ recordingId, roomName }) => {
        orphans.push({ recordingId, roomName });
        change({});
      },
      track: (sent) => outbox.add(sent, textOf('recorder.earlierSent')),
    });
  },

  /** Shows a recording until `sent` resolves, with null or the reason why it cannot be sent. `result` is then shown. */
  add(sent: Promise<TextOf | null>, result: TextOf): void {
    change({ count: state.count + 1, message: null });
    void sent.then((error) => change({ count: state.count - 1, message: error ?? result }));
  },

  /** Returns and forgets the recording of an earlier page with this ID, if there is one. */
  takeOrphan(roomName: string, recordingId: number): boolean {
    const index = orphans.findIndex((orphan) => orphan.roomName === roomName && orphan.recordingId === recordingId);
    if (index === -1) return false;
    orphans.splice(index, 1);
    return true;
  },

  /** Says that a recorder is shown. Returns a function that says that it is no longer. */
  addRecorder(): () => void {
    recorders += 1;
    change({ hasRecorder: true });
    return () => {
      recorders -= 1;
      change({ hasRecorder: recorders > 0 });
    };
  },

  dismiss(): void {
    change({ message: null });
  },
};
