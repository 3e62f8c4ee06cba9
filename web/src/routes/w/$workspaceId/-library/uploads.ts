/** The uploads of this browser tab. They go on while other pages are shown. */
import { ConnectionError } from '@lynxroom/client';
import { useSyncExternalStore } from 'react';
import { client, queryClient, trpc } from '../../../../lib/client.ts';
import { describeError } from '../../../../lib/errors.ts';
import { tellHostPage } from '../../../../lib/host-page.ts';
import { queuePoster } from '../../../../lib/posters.ts';

export type Upload = {
  key: string;
  /** Identifies the request: if only the answer was lost, sending again does not store the file twice. */
  requestKey: string;
  workspaceId: number;
  file: File;
  state: 'waiting' | 'sending' | 'storing' | 'done' | 'failed' | 'cancelled';
  sentBytes: number;
  /** Bytes a second, over the last seconds. */
  speed: number | null;
  /** Why it has failed. */
  error: { message: string; requestId: string | null } | null;
};

const MAX_AT_ONCE = 3;
const MAX_BYTES = 104_857_600;
const POSTER_TIMEOUT_MS = 30_000;
const SPEED_WINDOW_MS = 4_000;
const TYPES = /\.(pdf|mp4)$/i;

let uploads: readonly Upload[] = [];
const controllers = new Map<string, AbortController>();
const listeners = new Set<() => void>();

export function useUploads(workspaceId: number): readonly Upload[] {
  return useSyncExternalStore(subscribe, () => uploads).filter((upload) => upload.workspaceId === workspaceId);
}

export function addUploads(workspaceId: number, files: Iterable<File>): void {
  const added = Array.from(files, (file): Upload => {
    const message = refuse(file);
    return {
      key: createKey(),
      requestKey: createKey(),
      workspaceId,
      file,
      sentBytes: 0,
      speed: null,
      state: message === null ? 'waiting' : 'failed',
      error: message === null ? null : { message, requestId: null },
    };
  });
  set([...uploads, ...added]);
  startNext();
}

export function cancelUpload(key: string): void {
  controllers.get(key)?.abort();
  update(key, { state: 'cancelled', speed: null, requestKey: createKey() });
  startNext();
}

export function retryUpload(key: string): void {
  update(key, { state: 'waiting', sentBytes: 0, error: null });
  startNext();
}

/** Removes the uploads of a workspace that have ended from the list. */
export function clearUploads(workspaceId: number): void {
  set(uploads.filter((upload) => upload.workspaceId !== workspaceId || isActive(upload)));
}

export function isActive({ state }: Upload): boolean {
  return state === 'waiting' || state === 'sending' || state === 'storing';
}

export function canRetry({ state, file }: Upload): boolean {
  return (state === 'failed' || state === 'cancelled') && refuse(file) === null;
}

/** Why the service would refuse the file, found before anything is sent. Null if it would accept the file. */
function refuse({ name, size, type }: File): string | null {
  if (!TYPES.test(name) && type !== 'application/pdf' && type !== 'video/mp4') {
    return 'Only PDF and MP4 files can be uploaded';
  }
  return size > MAX_BYTES ? 'The file is larger than 100 MB' : null;
}

function startNext(): void {
  const running = uploads.filter(({ state }) => state === 'sending' || state === 'storing').length;
  for (const upload of uploads.filter(({ state }) => state === 'waiting').slice(0, MAX_AT_ONCE - running)) {
    void send(upload);
  }
}

async function send({ key, requestKey, workspaceId, file }: Upload): Promise<void> {
  const controller = new AbortController();
  controllers.set(key, controller);
  update(key, { state: 'sending' });
  const measure = createSpeedometer();
  try {
    const item = await client.upload(
      { id: workspaceId, file },
      {
        signal: controller.signal,
        idempotencyKey: requestKey,
        onProgress({ sent, total }) {
          const share = total > 0 ? sent / total : 0;
          const sentBytes = Math.round(share * file.size);
          // What is sent still has to be checked and stored.
          update(key, { sentBytes, speed: measure(sentBytes), state: share >= 1 ? 'storing' : 'sending' });
        },
      },
    );
    update(key, { state: 'done', sentBytes: file.size, speed: null });
    tellHostPage({ event: 'uploaded', item: { id: item.id, name: item.name } });
    queuePoster(file, item.mime_type, (image) =>
      client.setPoster({ id: workspaceId, itemId: item.id, image }, { signal: AbortSignal.timeout(POSTER_TIMEOUT_MS) }),
    );
    await queryClient.invalidateQueries(trpc.library.list.pathFilter());
  } catch (error) {
    if (controller.signal.aborted) return;
    const retried = error instanceof ConnectionError ? {} : { requestKey: createKey() };
    update(key, { state: 'failed', speed: null, error: describeError(error), ...retried });
  } finally {
    controllers.delete(key);
    startNext();
  }
}

/** `crypto.randomUUID` exists only in secure contexts: HTTPS and localhost. */
function createKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function createSpeedometer(): (sentBytes: number) => number | null {
  let samples: { at: number; bytes: number }[] = [{ at: performance.now(), bytes: 0 }];
  return (bytes) => {
    const at = performance.now();
    samples = [...samples.filter((sample) => at - sample.at < SPEED_WINDOW_MS), { at, bytes }];
    const first = samples[0];
    return first && at > first.at ? ((bytes - first.bytes) / (at - first.at)) * 1000 : null;
  };
}

function update(key: string, changes: Partial<Upload>): void {
  set(uploads.map((upload) => (upload.key === key ? { ...upload, ...changes } : upload)));
}

function set(next: readonly Upload[]): void {
  uploads = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
