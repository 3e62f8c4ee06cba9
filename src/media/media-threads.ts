/**
 * Reads media files in threads of their own. Files come from anyone, so a file may make its reader loop forever, or use
 * all of its memory: then its thread ends, and nothing else.
 */
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { MediaBytes, MediaEnd, MediaReply, MediaRequest, MediaResult, MediaTask } from './media-task.ts';

/** How many durations one process reads at a time. */
const MAX_THREADS = 2;
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
const queue: (() => void)[] = [];
let running = 0;

/** Runs a task as soon as one of the shared threads is free. Throws the errors of `runInThread`. */
export async function runInSharedThread(task: MediaTask, bytes: MediaBytes, timeoutMs: number): Promise<MediaResult> {
  const deadline = performance.now() + timeoutMs;
  await takeTurn(timeoutMs);
  const reused = idle.pop();
  if (reused) clearTimeout(reused.timer);
  const worker = reused?.worker ?? startThread();
  try {
    const result = await runInThread(worker, task, bytes, { timeoutMs: deadline - performance.now() });
    keepIdle(worker);
    return result;
  } catch (error) {
    void worker.terminate();
    throw error;
  } finally {
    running -= 1;
    queue.shift()?.();
  }
}

async function takeTurn(timeoutMs: number): Promise<void> {
  if (running >= MAX_THREADS) {
    await new Promise<void>((resolve, reject) => {
      const turn = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(turn), 1);
        reject(new MediaTimeout('No thread was free in time'));
      }, timeoutMs);
      queue.push(turn);
    });
  }
  running += 1;
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
