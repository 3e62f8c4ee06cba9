import { CircleAlert, CircleCheck, RotateCcw, Upload as UploadIcon, X } from 'lucide-react';
import { type DragEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Button, IconButton } from '../../../../components/Button.tsx';
import { CopyButton } from '../../../../components/CopyButton.tsx';
import { formatBytes, formatDuration } from '../../../../lib/format.ts';
import { CREATE_KEY } from '../../../../lib/single-keys.ts';
import {
  addUploads,
  cancelUpload,
  canRetry,
  clearUploads,
  isActive,
  retryUpload,
  type Upload,
  useUploads,
} from './uploads.ts';

/** Uploads the files that are dropped anywhere on the page. */
export function DropArea({ workspaceId, children }: { workspaceId: number; children: ReactNode }) {
  // Entering a child fires before leaving its parent, so the events are counted.
  const depth = useRef(0);
  const [isOver, setIsOver] = useState(false);

  function move(event: DragEvent, step: number): void {
    if (!event.dataTransfer.types.includes('Files')) return;
    depth.current += step;
    setIsOver(depth.current > 0);
  }

  function drop(event: DragEvent): void {
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    depth.current = 0;
    setIsOver(false);
    addUploads(workspaceId, event.dataTransfer.files);
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keyboard has the button "Upload files".
    <div
      className="relative"
      onDragEnter={(event) => move(event, 1)}
      onDragLeave={(event) => move(event, -1)}
      onDragOver={(event) => event.dataTransfer.types.includes('Files') && event.preventDefault()}
      onDrop={drop}
    >
      {children}
      {isOver && (
        <div className="pointer-events-none absolute inset-0 z-20 flex items-start justify-center rounded-xl border-2 border-dashed border-accent bg-accent-soft/90 pt-24">
          <p className="text-lg font-medium text-accent-text">Drop PDF or MP4 files of up to 100 MB</p>
        </div>
      )}
    </div>
  );
}

export function UploadButton({ workspaceId }: { workspaceId: number }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button
        tone="primary"
        icon={<UploadIcon aria-hidden size={18} />}
        aria-keyshortcuts={CREATE_KEY}
        onClick={() => input.current?.click()}
      >
        Upload files
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept=".pdf,.mp4,application/pdf,video/mp4"
        onChange={({ target }) => {
          addUploads(workspaceId, target.files ?? []);
          // Choosing the same file again must be a change.
          target.value = '';
        }}
      />
    </>
  );
}

/** The uploads, each with its progress, until they are cleared. */
export function UploadList({ workspaceId }: { workspaceId: number }) {
  const uploads = useUploads(workspaceId);
  const active = uploads.filter(isActive);
  const failed = uploads.filter(({ state }) => state === 'failed').length;
  const done = uploads.filter(({ state }) => state === 'done').length;
  useEffect(() => {
    if (active.length === 0) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [active.length]);
  if (uploads.length === 0) return null;

  function retryAll(): void {
    for (const { key } of uploads.filter(canRetry)) retryUpload(key);
  }

  const title =
    active.length > 0
      ? `Uploading ${Math.min(uploads.length - active.length + 1, uploads.length)} of ${uploads.length}`
      : `${done} of ${uploads.length} uploaded`;
  return (
    <section aria-label="Uploads" className="mb-4 rounded-xl border border-line bg-panel p-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="font-medium">
          <span role="status">
            {title}
            {failed > 0 && `, ${failed} failed`}
          </span>
        </h2>
        <div className="flex gap-2">
          {uploads.filter(canRetry).length > 1 && (
            <Button size="small" onClick={retryAll}>
              Retry all
            </Button>
          )}
          {uploads.length > active.length && (
            <Button size="small" tone="quiet" onClick={() => clearUploads(workspaceId)}>
              Clear
            </Button>
          )}
        </div>
      </div>
      <ul className="mt-2 flex max-h-72 flex-col gap-2 overflow-y-auto">
        {uploads.map((upload) => (
          <UploadRow key={upload.key} upload={upload} />
        ))}
      </ul>
    </section>
  );
}

function UploadRow({ upload }: { upload: Upload }) {
  const { key, file, state, sentBytes, error } = upload;
  return (
    <li className="flex items-center gap-3">
      <div className="min-w-0 grow">
        <p className="flex flex-wrap justify-between gap-x-3">
          <span className="min-w-0">{file.name}</span>
          <span className={`text-sm ${state === 'failed' ? 'text-danger-text' : 'text-muted'}`}>
            {describe(upload)}
          </span>
        </p>
        {state === 'sending' || state === 'storing' ? (
          <progress
            aria-label={`Progress of ${file.name}`}
            value={sentBytes}
            max={Math.max(file.size, 1)}
            className="h-1.5 w-full accent-accent"
          />
        ) : null}
        {error?.requestId != null && (
          <p className="flex items-center gap-1 text-sm text-muted">
            Request <code className="font-mono">{error.requestId}</code>
            <CopyButton text={error.requestId} label="Copy the request ID" />
          </p>
        )}
      </div>
      {state === 'done' && <CircleCheck aria-hidden size={18} className="shrink-0 text-success-text" />}
      {state === 'failed' && !canRetry(upload) && (
        <CircleAlert aria-hidden size={18} className="shrink-0 text-danger-text" />
      )}
      {canRetry(upload) && (
        <IconButton
          label={`Upload ${file.name} again`}
          icon={<RotateCcw aria-hidden size={16} />}
          onClick={() => retryUpload(key)}
        />
      )}
      {isActive(upload) && (
        <IconButton
          label={`Cancel the upload of ${file.name}`}
          icon={<X aria-hidden size={16} />}
          onClick={() => cancelUpload(key)}
        />
      )}
    </li>
  );
}

function describe({ state, file, sentBytes, speed, error }: Upload): string {
  if (state === 'waiting') return 'Waiting';
  if (state === 'storing') return 'Storing';
  if (state === 'done') return `Uploaded, ${formatBytes(file.size)}`;
  if (state === 'cancelled') return 'Cancelled';
  if (state === 'failed') return error?.message ?? 'Failed';
  const amount = `${formatBytes(sentBytes)} of ${formatBytes(file.size)}`;
  if (speed === null || speed <= 0) return amount;
  return `${amount}, ${formatBytes(speed)}/s, ${formatDuration((file.size - sentBytes) / speed)} left`;
}
