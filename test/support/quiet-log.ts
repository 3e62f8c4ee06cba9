import type { Log } from '../../src/core/log.ts';

/** For code whose log a test does not look at. */
export const quietLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
