/** Who speaks, by the levels of the received sounds. */

export type Levels = ReadonlyMap<number, number>;

export type Speaking = {
  /** Who speaks or spoke last; null if nobody has. */
  speaker: number | null;
  /** Everybody who speaks, with how many steps they stay so without a sound. */
  remaining: ReadonlyMap<number, number>;
};

/** A step is taken about every 200 ms. */
export const SPEAKER_STEP_MS = 200;
/** Levels below are noise of a room. */
const MIN_LEVEL = 0.02;
/** Pauses between words are no longer than so many steps. */
const HOLD_STEPS = 4;
/** Another person becomes the speaker if they are that much louder, or once the speaker is silent. */
const LOUDER = 1.5;

export const nobodySpeaks: Speaking = { speaker: null, remaining: new Map() };

/** Reads the levels again and again, and says when somebody begins or ends to speak. */
export class SpeakerWatch {
  #speaking: Speaking = nobodySpeaks;
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #readLevels: () => Levels;
  readonly #onChange: () => void;

  constructor(readLevels: () => Levels, onChange: () => void) {
    this.#readLevels = readLevels;
    this.#onChange = onChange;
  }

  get speaker(): number | null {
    return this.#speaking.speaker;
  }

  isSpeaking(id: number): boolean {
    return this.#speaking.remaining.has(id);
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#listen(), SPEAKER_STEP_MS);
  }

  /** The last speaker stays so until `forget`. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  forget(): void {
    this.#speaking = nobodySpeaks;
  }

  #listen(): void {
    const earlier = this.#speaking;
    this.#speaking = stepSpeaking(earlier, this.#readLevels());
    const isSame =
      earlier.speaker === this.#speaking.speaker &&
      earlier.remaining.size === this.#speaking.remaining.size &&
      [...earlier.remaining.keys()].every((id) => this.#speaking.remaining.has(id));
    if (!isSame) this.#onChange();
  }
}

/** Who speaks after one more reading of the levels, from 0 to 1. Who is not in `levels` has left. */
export function stepSpeaking({ speaker, remaining }: Speaking, levels: Levels): Speaking {
  const next = new Map<number, number>();
  let loudest: number | null = null;
  for (const [id, level] of levels) {
    const steps = level >= MIN_LEVEL ? HOLD_STEPS : (remaining.get(id) ?? 0) - 1;
    if (steps > 0) next.set(id, steps);
    if (level >= MIN_LEVEL && level > (loudest === null ? 0 : (levels.get(loudest) ?? 0))) loudest = id;
  }
  const current = speaker !== null && levels.has(speaker) ? speaker : null;
  if (loudest === null || loudest === current) return { speaker: current, remaining: next };
  const isReplaced =
    current === null || !next.has(current) || (levels.get(loudest) ?? 0) > LOUDER * (levels.get(current) ?? 0);
  return { speaker: isReplaced ? loudest : current, remaining: next };
}
