/** A service that is overloaded or restarted answers soon. */
const MIN_WAIT_MS = 500;
const MAX_WAIT_MS = 5_000;

type Options = {
  /** Whether nobody waits for the answer any more. */
  isOver(): boolean;
  sleep?(ms: number): Promise<void>;
};

/**
 * Repeats a call of the service until it is answered: without a network, and while the service is not available or asks
 * for time. Resolves with null once `isOver` says so. Rejects with every other error, such as a refusal.
 */
export async function callUntilAnswered<Answer>(
  call: () => Promise<Answer>,
  { isOver, sleep = wait }: Options,
): Promise<Answer | null> {
  for (let waitMs = MIN_WAIT_MS; !isOver(); waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
    try {
      return await call();
    } catch (error) {
      if (!isTemporary(error)) throw error;
    }
    await sleep(waitMs);
  }
  return null;
}

function isTemporary(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // An error of the service has a status. Without one, there was no answer, or not one of the service.
  const status = 'status' in error && typeof error.status === 'number' ? error.status : null;
  if (status === null) return error.name === 'TRPCClientError';
  return status >= 500 || [408, 425, 429].includes(status);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
