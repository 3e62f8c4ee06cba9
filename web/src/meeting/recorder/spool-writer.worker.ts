/** The worker that writes the files of spools. A file is complete on the device before the reply. */

export type WriteOrder = { id: number; directory: string; file: string; bytes: ArrayBuffer };
export type WriteReply = { id: number; error: string | null };

/** What workers have, which the types of pages do not know. */
type SyncAccessHandle = {
  write(bytes: ArrayBuffer, options: { at: number }): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
};
type WritableFile = FileSystemFileHandle & { createSyncAccessHandle(): Promise<SyncAccessHandle> };

const ROOT = 'recordings';

addEventListener('message', async ({ data }: MessageEvent<WriteOrder>) => {
  const reply: WriteReply = { id: data.id, error: null };
  try {
    await write(data);
  } catch (error) {
    reply.error = error instanceof Error ? error.message : String(error);
  }
  postMessage(reply);
});

async function write({ directory, file, bytes }: WriteOrder): Promise<void> {
  const root = await (await navigator.storage.getDirectory()).getDirectoryHandle(ROOT);
  const folder = await root.getDirectoryHandle(directory);
  // `as`: see above.
  const handle = (await folder.getFileHandle(file, { create: true })) as WritableFile;
  const access = await handle.createSyncAccessHandle();
  try {
    access.truncate(0);
    if (access.write(bytes, { at: 0 }) !== bytes.byteLength) throw new Error('The device is full');
    access.flush();
  } finally {
    access.close();
  }
}
