/** An object store whose methods a test can replace while the application runs. */
import type { ObjectStore } from '../../../src/storage/object-store.ts';
import { StorageUnavailableError } from '../../../src/storage/object-store.ts';

type Faults = Partial<ObjectStore>;

export type FaultyStore = {
  /** Replacements for the methods of the store. */
  faults: Faults;
  wrapStore(store: ObjectStore): ObjectStore;
  /** The real store. */
  real(): ObjectStore;
};

export function createFaultyStore(): FaultyStore {
  const faults: Faults = {};
  let real: ObjectStore | undefined;
  return {
    faults,
    wrapStore(store) {
      real = store;
      return new Proxy(store, { get: (target, name) => Reflect.get(faults, name) ?? Reflect.get(target, name) });
    },
    real() {
      if (!real) throw new Error('wrapStore was not called');
      return real;
    },
  };
}

/** A replacement for any method: fails as if the store were unavailable. */
export function failUnavailable(): Promise<never> {
  return Promise.reject(
    new StorageUnavailableError('The store is unavailable', new Error('connect ECONNREFUSED 10.0.0.7:9000')),
  );
}
