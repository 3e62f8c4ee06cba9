/**
 * The pictures of the guides: photographs of pages in `docs/images`, and the drawings of `diagrams.ts`. A picture may
 * exist a second time with dark colors.
 */
import { readdir, readFile } from 'node:fs/promises';
import { ifExists } from '../core/files.ts';
import { DIAGRAMS_DIR } from './diagrams.ts';

export type Picture = { url: string; bytes: Buffer; width: number; height: number };

/** By their path in the repository, such as `docs/images/console-rooms.jpg`. */
export type Pictures = ReadonlyMap<string, Picture>;

const root = new URL('../../', import.meta.url);
const IMAGES_DIR = 'docs/images';
const SVG_SIZE = /^<svg [^>]*?\bviewBox="\S+ \S+ ([\d.]+) ([\d.]+)"/;

/** Reads all pictures that are installed. */
export async function readPictures(): Promise<Pictures> {
  const pictures = new Map<string, Picture>();
  for (const dir of [IMAGES_DIR, DIAGRAMS_DIR])
    for (const name of ((await ifExists(readdir(new URL(dir, root)))) ?? []).sort()) {
      const path = `${dir}/${name}`;
      const bytes = await readFile(new URL(path, root));
      const size = name.endsWith('.svg') ? readSvgSize(bytes) : readJpegSize(bytes);
      pictures.set(path, { url: `/docs/assets/${path.slice('docs/'.length)}`, bytes, ...size });
    }
  return pictures;
}

/** The same picture with dark colors, if there is one. */
export function findDarkPicture(pictures: Pictures, path: string): Picture | undefined {
  return pictures.get(path.replace(/(?:-light)?(\.\w+)$/, '-dark$1'));
}

function readSvgSize(bytes: Buffer): { width: number; height: number } {
  const [, width, height] = SVG_SIZE.exec(bytes.toString('utf8')) ?? [];
  return { width: Math.round(Number(width)), height: Math.round(Number(height)) };
}

/** Reads the size from the header of the frame, ITU-T T.81, B.2.2. */
function readJpegSize(bytes: Buffer): { width: number; height: number } {
  let at = 2;
  while (![0xc0, 0xc1, 0xc2].includes(bytes.readUInt8(at + 1))) at += 2 + bytes.readUInt16BE(at + 2);
  return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
}
