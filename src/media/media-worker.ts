/** Entry point of a thread that reads media files, one at a time. It has no access to the store: it asks for bytes. */
import { parentPort } from 'node:worker_threads';
import { Logging, LogLevel } from 'mediabunny';
import { computeDuration } from './compute-duration.ts';
import type { MediaEnd, MediaReply, MediaRequest, MediaResult, MediaTask } from './media-task.ts';
import { createBoundedFile, createSequentialReader } from './range-reader.ts';
import { remux } from './remux.ts';

// What is unusual about a file is no news for the log of the service.
Logging.level = LogLevel.Silent;

const waiting = new Map<number, (bytes: Uint8Array) => void>();
let lastId = 0;

function ask(
  request: { read: { start: number; end: number } } | { write: Uint8Array<ArrayBuffer> },
): Promise<Uint8Array> {
  const id = ++lastId;
  const message: MediaRequest = { id, ...request };
  parentPort?.postMessage(message, 'write' in request ? [request.write.buffer] : []);
  return new Promise((resolve) => waiting.set(id, resolve));
}

const read = (start: number, end: number): Promise<Uint8Array> => ask({ read: { start, end } });

async function run(task: MediaTask): Promise<MediaResult> {
  if (task.kind === 'duration') {
    const file = createBoundedFile(task.size, task.head, read);
    return { ...(await computeDuration(file)), isRemuxed: false };
  }
  const write = (bytes: Uint8Array<ArrayBuffer>): Promise<unknown> => ask({ write: bytes });
  return remux({ size: task.size, read: createSequentialReader(task.size, read) }, write);
}

parentPort?.on('message', (message: MediaTask | MediaReply) => {
  if ('id' in message) {
    waiting.get(message.id)?.(message.bytes);
    waiting.delete(message.id);
    return;
  }
  run(message)
    // What the library throws for a damaged file says nothing to anybody.
    .catch((): MediaResult => ({ duration: null, isSeekable: true, isRemuxed: false }))
    .then((result) => {
      const end: MediaEnd = { result };
      parentPort?.postMessage(end);
    });
});
