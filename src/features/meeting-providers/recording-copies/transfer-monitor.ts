/** Watches the transfer of one file: renews its lease, and aborts a transfer that is too slow or has lost its lease. */
import type { Log } from '../../../core/log.ts';
import type { Ticker } from '../../../core/ticker.ts';
import { MINUTE_MS, SECOND_MS } from '../../../core/time.ts';
import { LeaseLost } from '../../../jobs/worker.ts';
import { FileUnavailable } from './fetch-file.ts';

/** A third of the lease, so that one failed renewal does not lose it. */
const CHECK_EVERY_MS = 20 * SECOND_MS;
/** Time for connecting, and for a server that must first fetch the file from an archive. */
const GRACE_MS = 30 * SECOND_MS;
/** The minimum average speed after the grace period if no other user is waiting for a slot. */
const MIN_BYTES_PER_SECOND = 64 * 1024;
/** While others wait for a slot, the minimum speed is up to this many times MIN_BYTES_PER_SECOND: about 8 Mbit/s. */
const MAX_SPEED_FACTOR = 16;
const MIN_TRANSFER_MS = 30 * MINUTE_MS;
/** 10 Mbit/s. A connection of this speed can transfer the largest file in time. */
const BYTES_PER_SECOND_OF_SLOW_LINK = 1_250_000;

export type TransferMonitor = {
  /** Aborted when the transfer must stop, with a FileUnavailable or LeaseLost as the reason. */
  signal: AbortSignal;
  /** Passes the chunks on and counts their bytes. Throws FileUnavailable if there are more than `maxBytes`. */
  count(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer>;
  /** Stops renewing the lease, and aborts the transfer if it is still running. */
  stop(): void;
};

/**
 * Returns the maximum duration of a transfer in milliseconds: 30 minutes, or the time for `maxBytes` at 10 Mbit/s if
 * that is longer.
 */
export function maxTransferMs(maxBytes: number): number {
  return Math.max(MIN_TRANSFER_MS, (maxBytes / BYTES_PER_SECOND_OF_SLOW_LINK) * SECOND_MS);
}

/**
 * Starts to watch a transfer. `renewLease` resolves with the number of other users who are waiting for a slot, or with
 * null if the lease has been lost. Each waiting user raises the minimum speed by 64 KiB per second, so that slow
 * transfers end and free their slots.
 */
export function monitorTransfer(
  { ticker, log, maxBytes }: { ticker: Ticker; log: Log; maxBytes: number },
  renewLease: () => Promise<number | null>,
): TransferMonitor {
  const end = new AbortController();
  const startedAt = ticker.now();
  const maxMs = maxTransferMs(maxBytes);
  let bytes = 0;
  let waiting = 0;

  const check = (): void => {
    const elapsedMs = ticker.now() - startedAt;
    const minSpeed = MIN_BYTES_PER_SECOND * Math.min(1 + waiting, MAX_SPEED_FACTOR);
    const minBytes = ((elapsedMs - GRACE_MS) / SECOND_MS) * minSpeed;
    if (elapsedMs > maxMs) end.abort(new FileUnavailable('The transfer took too long'));
    if (bytes < minBytes) end.abort(new FileUnavailable('The file was sent too slowly'));
    renewLease().then(
      (others) => {
        if (others === null) end.abort(new LeaseLost());
        else waiting = others;
      },
      (error: unknown) => log.warn({ err: error }, 'Failed to renew the lease of a copy'),
    );
  };
  const stopChecks = ticker.every(CHECK_EVERY_MS, check);

  return {
    signal: end.signal,
    async *count(chunks) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > maxBytes) throw new FileUnavailable('The file is too large', { isLasting: true });
        yield chunk;
      }
    },
    stop() {
      stopChecks();
      end.abort(new LeaseLost('The attempt has ended'));
    },
  };
}
