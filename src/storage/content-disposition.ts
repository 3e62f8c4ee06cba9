const MAX_NAME_BYTES = 200;
const FALLBACK_NAME = 'download';

// C0, DEL and C1 controls, line separators, the byte order mark, and everything that reorders text around it
// (`gpj.exe` must not read as `exe.jpg`). Zero-width joiners stay: emoji and several scripts are spelled with them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Characters that Windows forbids in a file name; the quotation mark also delimits the header's value. */
const FORBIDDEN = /[<>:"|?*]/g;

/** Names that Windows takes for devices, whatever their extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * The value of a `Content-Disposition` header that makes browsers save under a name (RFC 6266, RFC 8187).
 * The result is printable ASCII, whatever `filename` holds. A name that is not plain ASCII travels twice: percent-encoded
 * as `filename*`, and with `_` for what ASCII lacks as `filename`, for clients that know only that.
 */
export function attachmentDisposition(filename: string): string {
  const name = safeFilename(filename);
  // RFC 6266 appendix D: some clients decode `%41` in the plain form, so it must hold no percent sign.
  const ascii = name.replace(/[^\x20-\x7e]|%/gu, '_');
  const plain = `attachment; filename="${ascii}"`;
  return ascii === name ? plain : `${plain}; filename*=UTF-8''${encodeExtended(name)}`;
}

/**
 * A name that is harmless on every system: the last part of a path, no control, reordering or reserved characters, no
 * leading dot, at most 200 bytes of UTF-8 with the extension kept. Never empty.
 */
function safeFilename(filename: string): string {
  const lastPart = filename.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const clean = trimName(lastPart.replace(INVISIBLE, '').replace(FORBIDDEN, '_'));
  const named = DEVICE.test(clean) ? `_${clean}` : clean;
  return shorten(named) || FALLBACK_NAME;
}

/** Leading dots hide a file; Windows drops trailing dots and spaces, which would change the extension. */
function trimName(name: string): string {
  return name.replace(/^[\s.]+/u, '').replace(/[\s.]+$/u, '');
}

function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const extension = /\.[a-z0-9]{1,10}$/i.exec(name)?.[0] ?? '';
  let base = '';
  let room = MAX_NAME_BYTES - extension.length;
  for (const character of name.slice(0, name.length - extension.length)) {
    room -= Buffer.byteLength(character);
    if (room < 0) break;
    base += character;
  }
  return trimName(base) + extension;
}

/** `ext-value` of RFC 8187: encodeURIComponent leaves four characters that `attr-char` does not contain. */
function encodeExtended(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
