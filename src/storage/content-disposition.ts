const MAX_NAME_BYTES = 200;
const FALLBACK_NAME = 'download';

// C0, DEL and C1 controls, line separators, the byte order mark, and characters that reorder the text around them
// (`gpj.exe` must not be displayed as `exe.jpg`). Zero-width joiners stay: emoji and several scripts need them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Characters that Windows forbids in a file name; the quotation mark also delimits the header's value. */
const FORBIDDEN = /[<>:"|?*]/g;

/** Names that Windows reserves for devices, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * Returns the `Content-Disposition` header with which browsers save a file under `filename` (RFC 6266, RFC 8187). The
 * result is always printable ASCII. A name with other characters is sent twice: percent-encoded as `filename*`, and
 * with `_` in place of these characters as `filename`, for clients that do not support the first form.
 */
export function attachmentDisposition(filename: string): string {
  return dispositionOf('attachment', filename);
}

function dispositionOf(kind: 'attachment' | 'inline', filename: string): string {
  const name = safeFilename(filename);
  // Some clients decode `%41` in the plain form, so it must not contain a percent sign (RFC 6266, appendix D).
  const ascii = name.replace(/[^\x20-\x7e]|%/gu, '_');
  const plain = `${kind}; filename="${ascii}"`;
  return ascii === name ? plain : `${plain}; filename*=UTF-8''${encodeExtended(name)}`;
}

/** Like `attachmentDisposition`, for a file that browsers display. They use the name if the user saves the file. */
export function inlineDisposition(filename: string): string {
  return dispositionOf('inline', filename);
}

/**
 * Returns a name that is safe on every system: the last segment of a path, without control, reordering or reserved
 * characters, without a leading dot, and with at most 200 bytes of UTF-8 including the extension. It is never empty.
 */
export function safeFilename(filename: string): string {
  const lastPart = filename.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const clean = trimName(lastPart.replace(INVISIBLE, '').replace(FORBIDDEN, '_'));
  const named = DEVICE.test(clean) ? `_${clean}` : clean;
  return shorten(named) || FALLBACK_NAME;
}

/** Leading dots hide a file. Windows drops trailing dots and spaces, which would change the extension. */
function trimName(name: string): string {
  return name.replace(/^[\s.]+/u, '').replace(/(?<![\s.])[\s.]+$/u, '');
}

function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const extension = /\.[a-z0-9]{1,10}$/i.exec(name)?.[0] ?? '';
  let base = '';
  let bytesLeft = MAX_NAME_BYTES - extension.length;
  for (const character of name.slice(0, name.length - extension.length)) {
    bytesLeft -= Buffer.byteLength(character);
    if (bytesLeft < 0) break;
    base += character;
  }
  return trimName(base) + extension;
}

/**
 * Encodes an `ext-value` of RFC 8187. encodeURIComponent does not escape four characters that `attr-char` does not
 * allow.
 */
function encodeExtended(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
