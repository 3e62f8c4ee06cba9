/** The input of a call as it arrived, before it is validated. */
export type RawInput = {
  /** Returns the same value each time. Rejects if the input could not be read. */
  read(): Promise<unknown>;
  /**
   * Releases the value once it has been validated: it may take up far more memory than what validation leaves of it.
   * It cannot be read afterwards.
   */
  drop(): void;
};

export function rawInputOf(value: unknown): RawInput {
  let input: Promise<unknown> | null = Promise.resolve(value);
  return {
    read: () => input ?? Promise.reject(new Error('The input was read after it had been validated')),
    drop() {
      input = null;
    },
  };
}
