/**
 * Reads media files in threads of their own. Files come from anyone, so a file may make its reader loop forever, or use
 * all of its memory: then its thread ends, and nothing else.
 */
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { createLimiter } from '../core/limiter.ts';
import type { MediaBytes, MediaEnd, MediaReply, MediaRequest, MediaResult, MediaTask } from './media-task.ts';

/** How many durations one process reads at a time. */
export const MAX_THREADS = 2;
/** How many files may wait for a thread. Their requests stay open, and their first bytes in memory. */
export const MAX_QUEUED = 100;
/** A thread that has had nothing to do for this long ends, because it takes 20 MB of memory. */
const IDLE_MS = 30_000;
const MEMORY = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 192, stackSizeMb: 4 };

// V8 reads this limit of the whole process when it creates a heap, and prefers it to the limit of a thread. The heap of
// this process exists already, so its limit stays.
setFlagsFromString('--max-old-space-size=0');

/** The task was not finished in time. */
export class MediaTimeout extends Error {}

/** The file has ended its thread, for example because reading it needs too much memory. */
export class UnreadableFile extends Error {}

const idle: { worker: Worker; timer: NodeJS.Timeout }[] = [];

/** The duration of a file that finds no place in the queue is read later, like that of one that waits for too long. */
const threads = createLimiter<number>({
  max: MAX_THREADS,
  maxQueued: MAX_QUEUED,
  full: () => new MediaTimeout('Too many files wait for a thread'),
});

/**
 * Runs a task as soon as one of the shared threads is free. Workspaces take turns, so that one with many files does not
 * keep the others waiting. Throws the errors of `runInThread`, and MediaTimeout if too many files wait.
 */
export async function runInSharedThread(
  workspaceId: number,
  task: MediaTask,
  bytes: MediaBytes,
  timeoutMs: number,
): Promise<MediaResult> {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(new MediaTimeout('The file was not read in time')), timeoutMs);
  const { signal } = end;
  try {
    return await threads.run(workspaceId, () => runInIdleThread(task, bytes, signal), { signal });
  } finally {
    clearTimeout(timer);
  }
}

async function runInIdleThread(task: MediaTask, bytes: MediaBytes, signal: AbortSignal): Promise<MediaResult> {
  const reused = idle.pop();
  if (reused) clearTimeout(reused.timer);
  const worker = reused?.worker ?? startThread();
  try {
    const result = await runInThread(worker, task, bytes, { signal });
    keepIdle(worker);
    return result;
  } catch (error) {
    void worker.terminate();
    throw error;
  }
}

function keepIdle(worker: Worker): void {
  const entry = {
    worker,
    timer: setTimeout(() => {
      idle.splice(idle.indexOf(entry), 1);
      void worker.terminate();
    }, IDLE_MS).unref(),
  };
  idle.push(entry);
}

/** Starts a thread that does not keep the process running. */
export function startThread(): Worker {
  const worker = new Worker(join(import.meta.dirname, 'media-worker.ts'), {
    resourceLimits: MEMORY,
    execArgv: [],
    env: {},
  });
  // A thread that is terminated may still fail. Whoever waits for it has a listener of their own.
  worker.on('error', () => undefined).unref();
  return worker;
}

/**
 * Runs a task in a thread that does nothing else meanwhile. `timeoutMs` is the time for the whole task, and `silenceMs`
 * the time until it asks for bytes again.
 *
 * Throws MediaTimeout, UnreadableFile, the reason of `signal`, and the errors of `bytes`. Then the thread must be
 * terminated.
 */
export function runInThread(
  worker: Worker,
  task: MediaTask,
  bytes: MediaBytes,
  { timeoutMs, silenceMs, signal }: { timeoutMs?: number; silenceMs?: number; signal?: AbortSignal },
): Promise<MediaResult> {
  return new Promise((resolve, reject) => {
    const timers: NodeJS.Timeout[] = [];
    const stop = (settle: () => void): void => {
      for (const timer of timers) clearTimeout(timer);
      worker.off('message', onMessage).off('error', onFailure).off('exit', onFailure);
      signal?.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = (): void => stop(() => reject(signal?.reason));
    const onTimeout = (): void => stop(() => reject(new MediaTimeout('The file was not read in time')));
    const onFailure = (cause: unknown): void => stop(() => reject(new UnreadableFile('The thread ended', { cause })));
    const answer = async (request: MediaRequest): Promise<void> => {
      const reply: MediaReply = { id: request.id, bytes: await answerOf(request, bytes) };
      worker.postMessage(reply, [reply.bytes.buffer]);
    };
    const onMessage = (message: MediaRequest | MediaEnd): void => {
      silence?.refresh();
      if ('result' in message) stop(() => resolve(message.result));
      else
        answer(message).then(
          () => silence?.refresh(),
          (error: unknown) => stop(() => reject(error)),
        );
    };
    if (timeoutMs !== undefined) timers.push(setTimeout(onTimeout, Math.max(0, timeoutMs)));
    const silence = silenceMs === undefined ? null : setTimeout(onTimeout, silenceMs);
    if (silence !== null) timers.push(silence);
    worker.on('message', onMessage).on('error', onFailure).on('exit', onFailure);
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort);
    worker.postMessage(task);
  });
}

async function answerOf(request: MediaRequest, bytes: MediaBytes): Promise<Uint8Array<ArrayBuffer>> {
  if ('read' in request) return bytes.read(request.read.start, request.read.end);
  await bytes.write(request.write);
  return new Uint8Array();
}
