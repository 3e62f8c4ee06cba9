/** Exports are files that are read from the database while they are sent. */
import { currentCall } from '../core/call-bounds.ts';
import { requestCutOff } from '../core/errors.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { Services } from '../services.ts';

/** An export whose caller takes no part for this long ends, so that callers who stop reading do not hold all slots. */
const STALL_MS = MINUTE_MS;

/**
 * Reads the first part of an export, and returns all of it. So an export is refused before its response begins, and
 * what has begun is not cut off for lack of a slot. Each part is read when it is the turn of its owner. Throws 429 if
 * the owner has too many exports in progress, 503 if all have, and the errors of the first part. Calls `onStall` when
 * it has ended an export for the time that its caller took, so that the response can be closed.
 */
export async function beginExport(
  { exports, shares }: Pick<Services, 'exports' | 'shares'>,
  parts: AsyncIterable<Buffer>,
  onStall: () => void,
): Promise<AsyncIterable<Buffer>> {
  const call = currentCall.getStore();
  const owner = call?.owner ?? null;
  const release = exports.take(owner);
  // The other calls of the owner, of which many may wait, do not keep its exports from a connection.
  if (call?.owner) call.owner = `${call.owner} export`;
  const iterator = parts[Symbol.asyncIterator]();
  let hasEnded = false;
  let stall: NodeJS.Timeout | undefined;
  const end = async (): Promise<void> => {
    clearTimeout(stall);
    if (hasEnded) return;
    hasEnded = true;
    release();
    await iterator.return?.();
  };
  const read = async (): Promise<IteratorResult<Buffer>> => {
    clearTimeout(stall);
    if (hasEnded) throw requestCutOff();
    try {
      const next = await shares.run(call, () => iterator.next(), { isPatient: true, owner });
      if (next.done) await end();
      else stall = setTimeout(() => void end().then(onStall), STALL_MS).unref();
      return next;
    } catch (error) {
      await end();
      throw error;
    }
  };
  let first: IteratorResult<Buffer> | undefined = await read();
  const next = async (): Promise<IteratorResult<Buffer>> => {
    const part = first ?? (await read());
    first = undefined;
    return part;
  };
  const done = { done: true, value: undefined } as const;
  return { [Symbol.asyncIterator]: () => ({ next, return: () => end().then(() => done) }) };
}
