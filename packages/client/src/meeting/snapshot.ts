/** What a page shows of a meeting, as an object that is made anew after each change. */
import type { MeetingSnapshot, MeetingState } from './types.ts';

type Source = Omit<MeetingSnapshot, 'state'> & {
  phase: 'idle' | 'joining' | 'inside' | 'elsewhere' | 'ended';
  /** Whether the stream has been interrupted for some time. */
  isBroken: boolean;
};

/** At most ten reports a second. */
const MIN_PAUSE_MS = 100;

/** `changed` reports the next snapshot soon, and `read` returns the one of this moment. */
export function createSnapshots(readSource: () => Source, report: (snapshot: MeetingSnapshot) => void) {
  let snapshot: MeetingSnapshot | null = null;
  let isScheduled = false;
  let reportedAt = Number.NEGATIVE_INFINITY;

  function read(): MeetingSnapshot {
    snapshot ??= toSnapshot(readSource());
    return snapshot;
  }

  function changed(): void {
    snapshot = null;
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(
      () => {
        isScheduled = false;
        reportedAt = performance.now();
        report(read());
      },
      Math.max(0, reportedAt + MIN_PAUSE_MS - performance.now()),
    );
  }

  return { changed, read };
}

function toSnapshot({ phase, isBroken, ...rest }: Source): MeetingSnapshot {
  return { ...rest, state: toState(phase, isBroken, rest) };
}

function toState(
  phase: Source['phase'],
  isBroken: boolean,
  { participant, media }: Pick<Source, 'participant' | 'media'>,
): MeetingState {
  if (phase !== 'inside') return phase;
  if (participant?.status === 'waiting') return 'waiting';
  if (isBroken) return 'reconnecting';
  return media?.kind === 'full' ? 'full' : 'joined';
}
