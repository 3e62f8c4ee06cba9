import type { Log } from '../../src/core/log.ts';

/** A log that discards everything. */
export const quietLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
