import { fileTypeFromBuffer } from 'file-type';

/** The media types of the files that the service stores and serves. */
export const mediaTypes = ['application/pdf', 'video/mp4'] as const;
export type MediaType = (typeof mediaTypes)[number];

/** How many of a file's first bytes `contradicts` looks at: as many as `file-type` may need. */
export const HEAD_BYTES = 4100;

/**
 * Types that say nothing about the file. busboy reports a part without a readable type as text/plain (the default of
 * RFC 7578 section 4.4), so that cannot be told from "not declared"; many clients send application/octet-stream for
 * every file.
 */
const genericTypes = new Set(['application/octet-stream', 'text/plain']);

/**
 * Media types by which `file-type` knows each kind. For a box file it goes by the major brand: isom, iso2 to iso9,
 * mp41, mp42, avc1, dash, MSNV, F4V, cmfc and any brand that it has no other name for are `video/mp4`, Apple's M4V is
 * `video/x-m4v`. Brands with a type of their own are other kinds: QuickTime, 3GPP, M4A and F4A audio, HEIF, AVIF.
 */
const knownAs: Record<MediaType, ReadonlySet<string>> = {
  'application/pdf': new Set(['application/pdf']),
  'video/mp4': new Set(['video/mp4', 'video/x-m4v']),
};

/**
 * An MP4 whose first box is not `ftyp`, which `file-type` takes for QuickTime. ISO/IEC 14496-12 section 4.3 reads a
 * file without `ftyp` as one of brand mp41, so the bytes do not contradict the type. (`wide` is QuickTime's alone.)
 */
const boxFileWithoutBrand = /^.{4}(?:moov|mdat|free)/s;

/**
 * The scriptable types of WHATWG MIME Sniffing section 7.1, plus SVG, after optional whitespace (section 3).
 * The standard ends a tag by a space or `>` only; here any character ends it that ends a tag name for an HTML parser,
 * because `<svg` is as often followed by a newline, and refusing more markup harms no PDF or MP4.
 */
const markup =
  /^[\t\n\f\r ]*<(?:\?xml|(?:!doctype[\t\n\f\r ]+(?:html|svg)|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--|svg)[\t\n\f\r />])/i;

/**
 * Other kinds that `file-type` has no name for (scripts), or names only when the head holds more than the signature,
 * which it need not: the directory of a TIFF is mostly at its end, the ID3 tag of an MP3 mostly exceeds the head.
 */
const foreignSignatures = [
  '#!', // script with an interpreter
  '<?php',
  'II*\0', // TIFF, little-endian
  'MM\0*', // TIFF, big-endian
  '\x89PNG\r\n\x1A\n',
  'ID3', // MP3 with a tag
  'OggS',
  '\x1A\x45\xDF\xA3', // EBML: Matroska, WebM
  '!<arch>\n', // ar, deb
];

/**
 * What the uploader says the file is; null when that is neither kind.
 *
 * The part's Content-Type decides, whatever the name says; its parameters are ignored. Where it is absent or generic,
 * the filename's extension decides. Only the two registered types count: aliases such as `application/x-pdf` do not.
 */
export function readDeclaredType(partContentType: string | undefined, filename: string): MediaType | null {
  const type = partContentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/pdf' || type === 'video/mp4') return type;
  if (type !== '' && !genericTypes.has(type)) return null;
  if (/\.pdf$/i.test(filename)) return 'application/pdf';
  if (/\.mp4$/i.test(filename)) return 'video/mp4';
  return null;
}

/**
 * Whether a file's first bytes are recognised as another kind than the declared one.
 *
 * `head` is the start of the file, up to `HEAD_BYTES` (more is not looked at), or the whole of a shorter file. Bytes
 * that nothing recognises do not contradict: a PDF may begin with up to 1 kB of anything. A file that is valid as two
 * kinds at once passes as the kind it begins with; what makes that harmless is that files are only ever served as
 * attachments with the fixed type. Never rejects; the work is bounded by the length of the head.
 */
export async function contradicts(declared: MediaType, head: Uint8Array): Promise<boolean> {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, HEAD_BYTES));
  const raw = bytes.toString('latin1');
  if (markup.test(decodeText(bytes)) || foreignSignatures.some((signature) => raw.startsWith(signature))) return true;
  const recognised = await recognise(bytes);
  if (recognised === undefined || knownAs[declared].has(recognised)) return false;
  return !(declared === 'video/mp4' && boxFileWithoutBrand.test(raw));
}

/** The bytes as text without their byte order mark (WHATWG Encoding section 6); each byte a character without one. */
function decodeText(bytes: Buffer): string {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.toString('latin1', 3);
  return bytes.toString('latin1');
}

/** The media type of the bytes, where `file-type` knows one. */
async function recognise(bytes: Buffer): Promise<string | undefined> {
  try {
    return (await fileTypeFromBuffer(bytes))?.mime;
  } catch {
    // Its parsers follow offsets and compressed data of the uploader's choice; where they trip, they have recognised
    // nothing, and a hostile file is not a failure of ours.
    return undefined;
  }
}
