/** Determines the media type of a file from what its uploader declares and from its first bytes. */
import { extensionOf } from './file-extension.ts';

/** The media types of the files in libraries. */
export const libraryTypes = ['application/pdf', 'video/mp4'] as const;
export type LibraryType = (typeof libraryTypes)[number];

/** The media types of the files that the service stores and serves. Recordings may also be WebM. */
export type MediaType = LibraryType | 'video/webm';

/** The number of bytes that `contradicts` needs from the beginning of a file. `file-type` reads no more than this. */
export const HEAD_BYTES = 4100;

/**
 * Declared types that say nothing about the file. busboy reports a part without a valid type as text/plain, which is
 * the default of RFC 7578 section 4.4. Many clients send application/octet-stream for every file.
 */
const genericTypes = new Set(['application/octet-stream', 'text/plain']);

/**
 * The media types that `file-type` reports for each type. For an ISO base media file it uses the major brand: isom,
 * iso2 to iso9, mp41, mp42, avc1, dash, MSNV, F4V, cmfc and unknown brands are `video/mp4`, and Apple's M4V is
 * `video/x-m4v`. QuickTime, 3GPP, M4A and F4A audio, HEIF and AVIF have types of their own.
 */
const reportedTypes: Record<MediaType, ReadonlySet<string>> = {
  'application/pdf': new Set(['application/pdf']),
  'video/mp4': new Set(['video/mp4', 'video/x-m4v']),
  // Matroska with the document type `webm`.
  'video/webm': new Set(['video/webm']),
};

/** 3GPP releases 4 to 7, which phones write and whose files play as MP4. `file-type` reports a type of their own. */
const playsAsMp4 = /^.{4}ftyp3gp[4-7]/s;

/**
 * An MP4 whose first box is not `ftyp`, which `file-type` reports as QuickTime. According to ISO/IEC 14496-12 section
 * 4.3 such a file has the brand mp41, so the bytes do not contradict the type. (`wide` exists in QuickTime only.)
 */
const boxFileWithoutBrand = /^.{4}(?:moov|mdat|free)/s;

const EBML = '\x1A\x45\xDF\xA3';

/** The names of the kinds that people send most often. Others are named by their extension. */
const kindNames: ReadonlyMap<string, string> = new Map([
  ['video/quicktime', 'QuickTime'],
  ['video/webm', 'WebM'],
  ['video/matroska', 'Matroska'],
  ['video/3gpp', '3GPP'],
  ['video/3gpp2', '3GPP2'],
  ['audio/mp4', 'M4A audio'],
  ['application/x-msdownload', 'Windows program'],
  ['application/x-cfb', 'Microsoft Office'],
]);

const BOX_HEADER_BYTES = 8;
const firstBoxes = new Set(['ftyp', 'moov', 'mdat', 'free', 'styp', 'sidx', 'moof']);

const SPACE = '[\\t\\n\\f\\r ]';
const MARKUP_TAGS = [
  `!doctype${SPACE}+(?:html|svg)`,
  'html',
  'head',
  'script',
  'iframe',
  'h1',
  'div',
  'font',
  'table',
  'a',
  'style',
  'title',
  'b',
  'body',
  'br',
  'p',
  '!--',
  'svg',
];

/**
 * The scriptable types of WHATWG MIME Sniffing section 7.1, and SVG, after optional whitespace (section 3). In the
 * standard, only a space or `>` ends a tag. This pattern accepts every character that ends a tag name in an HTML
 * parser, because `<svg` is often followed by a newline, and no PDF or MP4 begins like this.
 */
const markup = new RegExp(`^${SPACE}*<(?:\\?xml|(?:${MARKUP_TAGS.join('|')})[\\t\\n\\f\\r />])`, 'i');

/**
 * Other types that `file-type` does not know (scripts), or recognizes only by bytes that may lie beyond the head: the
 * directory of a TIFF is usually at its end, and the ID3 tag of an MP3 is usually longer than the head.
 */
const foreignSignatures = [
  '#!', // script with an interpreter
  '<?php',
  'II*\0', // TIFF, little-endian
  'MM\0*', // TIFF, big-endian
  '\x89PNG\r\n\x1A\n',
  'ID3', // MP3 with a tag
  'OggS',
  '!<arch>\n', // ar, deb
];

/**
 * Returns the type that the uploader declares; null if it is not supported. The Content-Type of the part decides,
 * without its parameters. If it is missing or generic, the extension of the filename decides. Aliases such as
 * `application/x-pdf` are not supported.
 */
export function readDeclaredType(partContentType: string | undefined, filename: string): MediaType | null {
  const type = partContentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/pdf' || type === 'video/mp4' || type === 'video/webm') return type;
  if (type !== '' && !genericTypes.has(type)) return null;
  return typeOfExtension(filename);
}

/** The type that the extension of a file name stands for; null for an unknown one. */
export function typeOfExtension(filename: string): MediaType | null {
  const extension = extensionOf(filename);
  if (extension === 'pdf') return 'application/pdf';
  if (extension === 'webm') return 'video/webm';
  return extension === 'mp4' ? 'video/mp4' : null;
}

/**
 * Whether the first bytes of a file are recognized as a type other than the declared one. `head` is the first
 * `HEAD_BYTES` of the file, or the whole of a shorter file.
 *
 * Bytes that are not recognized do not contradict the type: a PDF may begin with up to 1 kB of other data. A file that
 * is valid as two types is accepted as the type that it begins with. This is harmless, because files are served only as
 * attachments with a fixed type. Never rejects. The work is bounded by the length of the head.
 */
export async function contradicts(declared: MediaType, head: Uint8Array): Promise<boolean> {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, HEAD_BYTES));
  const raw = bytes.toString('latin1');
  if (markup.test(decodeText(bytes)) || foreignSignatures.some((signature) => raw.startsWith(signature))) return true;
  if (declared === 'video/webm' ? !beginsWithEbml(bytes) : beginsWithEbml(bytes)) return true;
  const recognized = await recognize(bytes);
  if (recognized === undefined || reportedTypes[declared].has(recognized.mime)) return false;
  return !(declared === 'video/mp4' && (boxFileWithoutBrand.test(raw) || playsAsMp4.test(raw)));
}

/**
 * Whether a file begins with a box that can be the first box of an MP4 file (ISO/IEC 14496-12 section 4). This is
 * `ftyp`; in a file without a brand also `moov`, `mdat` or `free`; and in a segment also `styp`, `sidx` or `moof`. The
 * size of the box must be valid: at least that of its header, 1 for a 64-bit size, or 0 for a box that ends with the
 * file. `head` is as for `contradicts`.
 */
export function beginsWithMp4Box(head: Buffer): boolean {
  if (head.length < BOX_HEADER_BYTES || !firstBoxes.has(head.toString('latin1', 4, BOX_HEADER_BYTES))) return false;
  const size = head.readUInt32BE(0);
  return size <= 1 || size >= BOX_HEADER_BYTES;
}

/** Whether a file begins like every Matroska and WebM. */
export function beginsWithEbml(head: Uint8Array): boolean {
  return Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1', 0, EBML.length) === EBML;
}

/**
 * Names the kind of file that the first bytes are, as in "This is a QuickTime file". Returns null if it is not
 * recognized, or is one of `accepted`.
 */
export async function describeKind(head: Uint8Array, accepted: readonly MediaType[]): Promise<string | null> {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, HEAD_BYTES));
  if (markup.test(decodeText(bytes))) return 'This is an HTML, SVG or XML file';
  const recognized = await recognize(bytes);
  if (recognized === undefined || accepted.some((type) => reportedTypes[type].has(recognized.mime))) return null;
  const name = kindNames.get(recognized.mime) ?? recognized.ext.toUpperCase();
  return `This is ${/^[AEFHILMNORSX](?:[A-Z0-9]|$)/.test(name) ? 'an' : 'a'} ${name} file`;
}

/** Decodes the bytes by their byte order mark (WHATWG Encoding section 6). Without one, each byte is a character. */
function decodeText(bytes: Buffer): string {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.toString('latin1', 3);
  return bytes.toString('latin1');
}

/** Returns the media type and the extension that `file-type` recognizes, if any. */
async function recognize(bytes: Buffer): Promise<{ mime: string; ext: string } | undefined> {
  // Loaded for the first upload, to save memory.
  const { fileTypeFromBuffer } = await import('file-type');
  try {
    return await fileTypeFromBuffer(bytes);
  } catch {
    // The parsers follow offsets and compressed data in the file, so a hostile file can make them throw. The file then
    // counts as not recognized.
    return undefined;
  }
}
