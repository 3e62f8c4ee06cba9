/** Files that are open for reading, so that any number of readers of one file need only one file descriptor. */
import { type FileHandle, open, stat } from 'node:fs/promises';
import { ifExists } from '../core/files.ts';

export type SharedFile = {
  handle: FileHandle;
  size: number;
  modifiedAt: Date;
  /** The time of the last change in nanoseconds. */
  mtimeNs: bigint;
  /** Ends this use of the file. The last user closes the descriptor. */
  close(): Promise<void>;
};

export type SharedFiles = {
  /** Opens a file. Returns undefined if there is none at `path`. */
  open(path: string): Promise<SharedFile | undefined>;
};

type Entry = { opening: Promise<FileHandle | undefined>; uses: number };

export function createSharedFiles(): SharedFiles {
  const entries = new Map<string, Entry>();

  const endUse = async (key: string, entry: Entry): Promise<void> => {
    entry.uses -= 1;
    if (entry.uses > 0) return;
    if (entries.get(key) === entry) entries.delete(key);
    await (await entry.opening)?.close();
  };

  return {
    async open(path) {
      const found = await ifExists(stat(path, { bigint: true }));
      if (!found?.isFile()) return undefined;
      // The inode distinguishes a file from the one that it replaced at the same path. The path distinguishes it from a
      // deleted file whose inode was reused.
      const key = `${found.ino}:${path}`;
      const entry = entries.get(key) ?? { opening: ifExists(open(path, 'r')), uses: 0 };
      entries.set(key, entry);
      entry.uses += 1;
      const handle = await entry.opening.catch((error: unknown) => {
        entries.delete(key);
        throw error;
      });
      if (handle === undefined) {
        entries.delete(key);
        return undefined;
      }
      let isOpen = true;
      return {
        handle,
        size: Number(found.size),
        modifiedAt: found.mtime,
        mtimeNs: found.mtimeNs,
        async close() {
          if (!isOpen) return;
          isOpen = false;
          await endUse(key, entry);
        },
      };
    },
  };
}
