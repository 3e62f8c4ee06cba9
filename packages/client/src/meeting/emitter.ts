/** Calls listeners. One that throws stops no other one, and no part of the meeting. */
// `never[]`: a listener may take any arguments.
export class Emitter<Events extends { [Event in keyof Events]: (...input: never[]) => void }> {
  readonly #listeners = new Map<keyof Events, Set<Events[keyof Events]>>();

  /** Returns a function that removes the listener. */
  on<Event extends keyof Events>(event: Event, listener: Events[Event]): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  emit<Event extends keyof Events>(event: Event, ...input: Parameters<Events[Event]>): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) {
      try {
        listener(...input);
      } catch (error) {
        reportError(error);
      }
    }
  }
}

/** A text that nobody guesses. `crypto.randomUUID` exists only in secure contexts. */
export function createId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
