/** Values that this browser keeps: `local` for good, `session` as long as the tab. */

export type Kept = {
  read(key: string): string | null;
  /** Null removes the value. */
  write(key: string, value: string | null): void;
};

export const local = keepIn(() => localStorage);
export const session = keepIn(() => sessionStorage);

/** A browser that blocks the data of sites throws when a page touches its storage. Values then last until a reload. */
function keepIn(open: () => Storage): Kept {
  const values = new Map<string, string | null>();
  function attempt<Result>(use: (storage: Storage) => Result): Result | undefined {
    try {
      return use(open());
    } catch {
      return undefined;
    }
  }
  return {
    read(key) {
      const stored = attempt((storage) => storage.getItem(key));
      return stored ?? values.get(key) ?? null;
    },
    write(key, value) {
      values.set(key, value);
      attempt((storage) => (value === null ? storage.removeItem(key) : storage.setItem(key, value)));
    },
  };
}
