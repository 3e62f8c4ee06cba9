/** Reads the built console: the page, and the files that it loads. */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** A file of the console, with all encodings that the build wrote. */
export type ConsoleFile = {
  /** The path in the URL, such as `/assets/index-B2kq.js`. */
  path: string;
  type: string;
  /** Whether the name contains a hash of the content. The content behind such a name never changes. */
  isHashed: boolean;
  bytes: Buffer;
  br: Buffer | undefined;
  gzip: Buffer | undefined;
};

export type Console = { page: ConsoleFile; files: readonly ConsoleFile[] };

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

const HASHED_FOLDER = 'assets/';

/**
 * Reads the console that was built into `dir`. Returns null if there is no build. The files stay in memory (about 5
 * MB), so that building the console again does not affect a running server.
 */
export async function readConsole(dir: string): Promise<Console | null> {
  const names = await listFiles(dir);
  const files = await Promise.all(
    names.filter((name) => extname(name) in types).map((name) => readConsoleFile(dir, name, names)),
  );
  const page = files.find(({ path }) => path === '/index.html');
  return page === undefined ? null : { page, files: files.filter((file) => file !== page) };
}

/** Returns the paths below `dir`, without hidden files. The list is empty if the directory does not exist. */
async function listFiles(dir: string): Promise<string[]> {
  const names = await readdir(dir, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.map((name) => name.replaceAll('\\', '/')).filter((name) => !/(?:^|\/)\./.test(name));
}

async function readConsoleFile(dir: string, name: string, names: readonly string[]): Promise<ConsoleFile> {
  const readIfBuilt = async (variant: string) => (names.includes(variant) ? readFile(join(dir, variant)) : undefined);
  const [bytes, br, gzip] = await Promise.all([
    readFile(join(dir, name)),
    readIfBuilt(`${name}.br`),
    readIfBuilt(`${name}.gz`),
  ]);
  const type = types[extname(name)] ?? 'application/octet-stream';
  return { path: `/${name}`, type, isHashed: name.startsWith(HASHED_FOLDER), bytes, br, gzip };
}
