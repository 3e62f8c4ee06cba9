/** Limits how many exports are in progress at the same time. Each process counts its own. */
import { serviceUnavailable, tooManyRequests } from './errors.ts';
import { createLimiter, takeAll } from './limiter.ts';

const MAX_PER_OWNER = 2;
const MAX_TOTAL = 50;
const RETRY_AFTER_SECONDS = 5;

export type ExportSlots = {
  /** Takes a slot. Returns the function that releases it. Throws 429 if the owner has too many, and 503 if all have. */
  take(owner: string | null): () => void;
};

export function createExportSlots(): ExportSlots {
  const ofOwner = createLimiter<string | null>({
    maxPerKey: MAX_PER_OWNER,
    full: () => tooManyRequests('Too many exports at once', RETRY_AFTER_SECONDS),
  });
  const ofProcess = createLimiter<'all'>({
    max: MAX_TOTAL,
    full: () => serviceUnavailable('Too many exports at once', RETRY_AFTER_SECONDS),
  });
  return { take: (owner) => takeAll([() => ofOwner.take(owner), () => ofProcess.take('all')]) };
}
