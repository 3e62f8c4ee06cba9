/**
 * The format of a backup: a directory with
 *
 * - `manifest.json`, written last: what the other files must contain
 * - `tables/<name>.copy.gz`: the rows of each table, in the text format of COPY
 * - `files.jsonl`: the key, size and SHA-256 of each file of the disk store
 * - `files/<key>`: these files
 */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { ifExists } from '../core/files.ts';
import { parseJson } from '../core/parse-json.ts';
import { isObjectKey } from '../storage/object-key.ts';

/** A backup that cannot be written, is not complete, or does not fit the database. The message is for the operator. */
export class BackupError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'BackupError';
  }
}

export const MANIFEST = 'manifest.json';
export const FILE_LIST = 'files.jsonl';
export const FILES = 'files';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** Names of tables and columns, as the migrations write them. */
const identifier = z.string().regex(/^[a-z_][a-z0-9_]*$/);

const Table = z.object({
  name: identifier,
  columns: z.array(identifier),
  rows: z.int(),
  /** The size of the compressed file. */
  bytes: z.int(),
  sha256,
});
export type Table = z.infer<typeof Table>;

const Sequence = z.object({ name: identifier, last_value: z.string().regex(/^-?\d+$/), is_called: z.boolean() });
export type Sequence = z.infer<typeof Sequence>;

const content = {
  /** When the snapshot was taken, by the clock of the database. */
  created_at: z.iso.datetime(),
  migrations: z.array(z.object({ name: z.string(), checksum: z.string() })).min(1),
  tables: z.array(Table),
  sequences: z.array(Sequence),
  /** The store that holds the files of this database, as in `object_store_id`; null if no server has started yet. */
  store: z.string().nullable(),
  /** The files in this backup; null if they are in S3. `sha256` is that of `files.jsonl`. */
  files: z.object({ count: z.int(), bytes: z.int(), sha256 }).nullable(),
  /** Keys of files that rows refer to, but that were missing from the store. */
  missing_files: z.array(z.string()),
};

/** Release 0.2.0 wrote format 1, without a hash of the manifest. */
const Manifest = z.discriminatedUnion('format', [
  z.strictObject({ format: z.literal(1), ...content }),
  z.strictObject({ format: z.literal(2), ...content, sha256 }),
]);
export type Manifest = z.infer<typeof Manifest>;
export type Content = Omit<Manifest, 'format' | 'sha256'>;

/** The key becomes a path, which must not lead out of the directory. */
const ListedFile = z.object({ key: z.string().refine(isObjectKey), size: z.int(), sha256 });
export type ListedFile = z.infer<typeof ListedFile>;

export function tablePath(directory: string, name: string): string {
  return join(directory, 'tables', `${name}.copy.gz`);
}

/** Returns the manifest of this content, with a hash of all of it. */
export function createManifest(content: Content): Manifest {
  const unsigned = { format: 2 as const, ...content };
  return { ...unsigned, sha256: createHash('sha256').update(toText(unsigned)).digest('hex') };
}

export function toText(manifest: object): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/**
 * Reads the manifest, and checks it against its own hash.
 *
 * @throws BackupError if the directory has none, one that was changed, or one of another format
 */
export async function readManifest(directory: string): Promise<Manifest> {
  const path = join(directory, MANIFEST);
  const text = await ifExists(readFile(path, 'utf8'));
  if (text === undefined) throw new BackupError(`${directory} is not a complete backup: it has no ${MANIFEST}`);
  const found = parseJson(text);
  const parsed = Manifest.safeParse(found);
  if (!parsed.success) throw new BackupError(`${path} is damaged, or was written by a newer version`);
  // The parsed JSON, not the result of zod: the hash covers the text, so the order of the fields must not change.
  if (parsed.data.format === 2 && !hasOwnHash(found, text)) throw new BackupError(`${path} is damaged: it was changed`);
  return parsed.data;
}

function hasOwnHash(manifest: unknown, text: string): boolean {
  const { sha256: written, ...unsigned } = Object(manifest);
  const computed = createHash('sha256').update(toText(unsigned)).digest('hex');
  return written === computed && text === toText({ ...unsigned, sha256: written });
}

/** Yields the entries of `files.jsonl`. Throws BackupError for a damaged one. */
export async function* readFileList(directory: string): AsyncGenerator<ListedFile> {
  for await (const line of createInterface({ input: createReadStream(join(directory, FILE_LIST)) })) {
    const parsed = ListedFile.safeParse(parseJson(line));
    if (!parsed.success) throw new BackupError(`${join(directory, FILE_LIST)} is damaged`);
    yield parsed.data;
  }
}

/** Resolves with the size and hash of a file, or with undefined if there is none. */
export async function hashFile(path: string): Promise<{ size: number; sha256: string } | undefined> {
  const hash = createHash('sha256');
  let size = 0;
  const count = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) {
      hash.update(chunk);
      size += chunk.length;
    }
  };
  return ifExists(pipeline(createReadStream(path), count).then(() => ({ size, sha256: hash.digest('hex') })));
}
