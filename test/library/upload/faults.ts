/** A store whose methods a test may replace while the application runs. */
import type { ObjectStore } from '../../../src/storage/object-store.ts';
import { StorageUnavailableError } from '../../../src/storage/object-store.ts';

type Faults = Partial<ObjectStore>;

export type FaultyStore = {
  /** What stands here is called in place of the store's own method. */
  faults: Faults;
  wrapStore(store: ObjectStore): ObjectStore;
  /** The store behind the faults. */
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
      if (!real) throw new Error('No store was wrapped yet');
      return real;
    },
  };
}

export function storeIsDown(): Promise<never> {
  return Promise.reject(
    new StorageUnavailableError('The store is down', new Error('connect ECONNREFUSED 10.0.0.7:9000')),
  );
}
